-- migrate:up
-- work that one process does at a time, without holding a connection while somebody else is asked
CREATE TABLE leases (
	name text CONSTRAINT leases_pkey PRIMARY KEY,
	holder uuid NOT NULL,
	expires_at timestamptz NOT NULL
);

-- migrate:down
DROP TABLE leases;
