-- migrate:up
-- How many requests of an organization's keys were refused by which limit, for a day (oplink doctor, /metrics).
CREATE TABLE limit_refusals (
	organization_id uuid NOT NULL
		CONSTRAINT limit_refusals_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	limit_name text NOT NULL,
	hour timestamptz NOT NULL,
	refused bigint NOT NULL,
	CONSTRAINT limit_refusals_pkey PRIMARY KEY (organization_id, limit_name, hour)
);
CREATE INDEX limit_refusals_hour_idx ON limit_refusals (hour);

-- migrate:down
DROP TABLE limit_refusals;
