-- migrate:up
-- What the installation as a whole remembers; no organization owns it.

CREATE TABLE settings (
	name text CONSTRAINT settings_pkey PRIMARY KEY,
	value jsonb NOT NULL
);

-- Work that one process does at a time, without holding a connection while it waits for somebody else.
CREATE TABLE leases (
	name text CONSTRAINT leases_pkey PRIMARY KEY,
	holder uuid NOT NULL,
	expires_at timestamptz NOT NULL
);

-- migrate:down
DROP TABLE leases;
DROP TABLE settings;
