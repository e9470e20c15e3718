-- migrate:up
-- What strangers report of links: one row for each link, reason, network and day (UTC); further ones count up.
CREATE TABLE abuse_reports (
	id uuid CONSTRAINT abuse_reports_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT abuse_reports_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	-- not a reference: a report outlives its link
	link_id uuid NOT NULL,
	-- the short URL
	link text NOT NULL,
	reason text NOT NULL,
	details text,
	email text,
	-- keyed hash of the /24 or /48 of the sender
	network bytea NOT NULL,
	day date NOT NULL,
	count integer NOT NULL,
	created_at timestamptz NOT NULL,
	last_at timestamptz NOT NULL,
	-- null: open
	closed_at timestamptz,
	note text,
	CONSTRAINT abuse_reports_link_id_day_reason_network_key UNIQUE (link_id, day, reason, network)
);
CREATE INDEX abuse_reports_organization_id_idx ON abuse_reports (organization_id);
CREATE INDEX abuse_reports_created_at_idx ON abuse_reports (created_at);

-- migrate:down
DROP TABLE abuse_reports;
