-- migrate:up
-- Devices that apps report, the events on them, and the links that they create.

CREATE TABLE devices (
	id uuid CONSTRAINT devices_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT devices_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	-- the id that the app gave the device
	device_id text NOT NULL,
	platform text,
	os_version text,
	device_model text,
	app_version text,
	sdk_version text,
	language text,
	timezone text,
	-- the latest session
	session_id uuid,
	-- who the app says its user is
	external_user_id text,
	traits jsonb,
	-- what the device was last matched to; no foreign key: events keep naming a link that is deleted
	matched_link_id uuid,
	matched_at timestamptz,
	-- the link that the installed app opened last, of which /data told with the device's id
	opened_link_id uuid,
	opened_at timestamptz,
	-- channel, UTM values and country of that visit
	opened_attribution jsonb,
	first_seen_at timestamptz NOT NULL,
	last_seen_at timestamptz NOT NULL,
	-- whether only /data, which needs no key, has named the device: such a one is deleted sooner
	by_visit boolean NOT NULL DEFAULT false,
	CONSTRAINT devices_organization_id_device_id_key UNIQUE (organization_id, device_id)
);
-- the portal's list, by what never changes: an index by organization and last_seen_at would cost every session a write
CREATE INDEX devices_organization_id_first_seen_at_idx ON devices (organization_id, first_seen_at DESC, id DESC);
-- a user's data is found by this, however much there is of others
CREATE INDEX devices_organization_id_external_user_id_idx ON devices (organization_id, external_user_id)
	WHERE external_user_id IS NOT NULL;
-- find devices that were not seen for long
CREATE INDEX devices_last_seen_at_idx ON devices (last_seen_at);
CREATE INDEX devices_by_visit_idx ON devices (last_seen_at) WHERE by_visit;

-- how many devices /data has registered of an organization on its latest day (UTC)
CREATE TABLE visit_devices (
	organization_id uuid CONSTRAINT visit_devices_pkey PRIMARY KEY
		CONSTRAINT visit_devices_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	day date NOT NULL,
	count integer NOT NULL
);

CREATE TABLE events (
	id uuid CONSTRAINT events_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT events_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	-- null: the device's data was erased; the event stays, because it is counted
	device_id text,
	-- the caller's own id: an event with a known one is counted once
	event_id text,
	event_name text NOT NULL,
	properties jsonb NOT NULL,
	link_id uuid,
	-- what funnels count it for: the link that it names, else the one that its device met last within 30 days
	attributed_link_id uuid,
	-- channel, UTM values and country of the click or the opening that it comes from, else of the link as it was then
	attribution jsonb,
	occurred_at timestamptz NOT NULL,
	received_at timestamptz NOT NULL,
	-- the transaction that wrote the row: the rollups know by it which rows they hold
	writer xid8 NOT NULL DEFAULT pg_current_xact_id(),
	CONSTRAINT events_organization_id_event_id_key UNIQUE (organization_id, event_id)
);
CREATE INDEX events_organization_id_occurred_at_idx ON events (organization_id, occurred_at DESC, id DESC);
CREATE INDEX events_organization_id_device_id_idx ON events (organization_id, device_id);
CREATE INDEX events_link_id_occurred_at_idx ON events (link_id, occurred_at) WHERE link_id IS NOT NULL;
CREATE INDEX events_writer_idx ON events (writer);

-- Links that apps created by the CLIENT key: which one a device has for a content. A device that asks again gets the same link.
CREATE TABLE app_links (
	organization_id uuid NOT NULL
		CONSTRAINT app_links_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	-- empty: the device's data was erased; the row stays, because it counts against the share of apps
	device_id text NOT NULL,
	-- SHA-256 of the template's id and the fields; of an erased device the link's id
	content bytea NOT NULL,
	link_id uuid NOT NULL CONSTRAINT app_links_link_id_fkey REFERENCES links (id) ON DELETE CASCADE,
	CONSTRAINT app_links_pkey PRIMARY KEY (organization_id, device_id, content),
	CONSTRAINT app_links_link_id_key UNIQUE (link_id)
);

-- migrate:down
DROP TABLE app_links;
DROP TABLE events;
DROP TABLE visit_devices;
DROP TABLE devices;
