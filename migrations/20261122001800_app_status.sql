-- migrate:up
-- What apps send, beyond the rows that their requests leave: for `oplink app status`.

-- Requests of an organization's apps by hour: sessions, /data and events, and what was refused. A count per version, too.
CREATE TABLE app_counts (
	organization_id uuid NOT NULL
		CONSTRAINT app_counts_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	kind text NOT NULL,
	hour timestamptz NOT NULL,
	platform text NOT NULL CONSTRAINT app_counts_platform_check CHECK (platform IN ('ios', 'android', 'unknown')),
	-- the version of the app or SDK, or the name of the limit; else empty
	detail text NOT NULL,
	count bigint NOT NULL,
	last_at timestamptz NOT NULL,
	CONSTRAINT app_counts_pkey PRIMARY KEY (organization_id, kind, hour, platform, detail)
);
CREATE INDEX app_counts_hour_idx ON app_counts (hour);

-- Up to when the first opens of an organization are in app_counts, as the kind first_open, by whole hours.
CREATE TABLE app_first_opens (
	organization_id uuid CONSTRAINT app_first_opens_pkey PRIMARY KEY
		CONSTRAINT app_first_opens_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	counted_until timestamptz NOT NULL
);

-- Organizations whose requests somebody watches; of no others is a request stored.
CREATE TABLE app_watches (
	organization_id uuid CONSTRAINT app_watches_pkey PRIMARY KEY
		CONSTRAINT app_watches_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	until timestamptz NOT NULL
);

-- Their sessions, visits of /data and refusals; matches and events have rows of their own.
CREATE TABLE app_requests (
	id uuid CONSTRAINT app_requests_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT app_requests_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	at timestamptz NOT NULL,
	type text NOT NULL CONSTRAINT app_requests_type_check CHECK (type IN ('session', 'data', 'refusal')),
	platform text NOT NULL,
	device_id text,
	app_version text,
	sdk_version text,
	text text NOT NULL,
	-- the transaction that wrote the row: the live stream knows by it which rows are new
	writer xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX app_requests_writer_idx ON app_requests (writer);
CREATE INDEX app_requests_at_idx ON app_requests (at);
CREATE INDEX app_requests_organization_id_device_id_idx ON app_requests (organization_id, device_id);

-- migrate:down
DROP TABLE app_requests;
DROP TABLE app_watches;
DROP TABLE app_first_opens;
DROP TABLE app_counts;
