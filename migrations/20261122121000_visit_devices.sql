-- migrate:up
-- whether nothing but /data, which needs no key, has told of the device: then it is forgotten after a while
ALTER TABLE devices ADD COLUMN by_visit boolean NOT NULL DEFAULT false;
CREATE INDEX devices_by_visit_idx ON devices (last_seen_at) WHERE by_visit;

-- how many devices /data has registered of an organization on its latest day (UTC)
CREATE TABLE visit_devices (
	organization_id uuid CONSTRAINT visit_devices_pkey PRIMARY KEY
		CONSTRAINT visit_devices_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	day date NOT NULL,
	count integer NOT NULL
);

-- migrate:down
DROP TABLE visit_devices;
ALTER TABLE devices DROP COLUMN by_visit;
