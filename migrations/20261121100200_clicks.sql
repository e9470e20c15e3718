-- migrate:up
-- One partition a month, made by the server before the first click of that month. No foreign keys: clicks outlive
-- their link in the figures, and a check per row would cost the redirect page.
CREATE TABLE clicks (
	id uuid NOT NULL,
	occurred_at timestamptz NOT NULL,
	organization_id uuid NOT NULL,
	link_id uuid NOT NULL,
	channel text,
	platform text,
	os text,
	os_version text,
	browser text,
	device_model text,
	language text,
	timezone text,
	referrer_host text,
	country text,
	-- what kind of crawler it was; null: a person's click
	bot_class text,
	CONSTRAINT clicks_pkey PRIMARY KEY (id, occurred_at)
) PARTITION BY RANGE (occurred_at);
CREATE INDEX clicks_organization_id_occurred_at_idx ON clicks (organization_id, occurred_at);
CREATE INDEX clicks_link_id_occurred_at_idx ON clicks (link_id, occurred_at);

-- people's clicks per calendar month (UTC): what the click quota reads
CREATE TABLE click_counts (
	organization_id uuid NOT NULL
		CONSTRAINT click_counts_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	month date NOT NULL,
	clicks bigint NOT NULL,
	CONSTRAINT click_counts_pkey PRIMARY KEY (organization_id, month)
);

-- a click that an app's first open may still claim, found by the SHA-256 of the token that its page carried
CREATE TABLE match_clicks (
	id uuid CONSTRAINT match_clicks_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT match_clicks_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	link_id uuid NOT NULL CONSTRAINT match_clicks_link_id_fkey REFERENCES links (id) ON DELETE CASCADE,
	token_hash bytea NOT NULL CONSTRAINT match_clicks_token_hash_key UNIQUE,
	created_at timestamptz NOT NULL,
	expires_at timestamptz NOT NULL
);
CREATE INDEX match_clicks_organization_id_idx ON match_clicks (organization_id);
CREATE INDEX match_clicks_link_id_idx ON match_clicks (link_id);
CREATE INDEX match_clicks_expires_at_idx ON match_clicks (expires_at);

CREATE TABLE devices (
	id uuid CONSTRAINT devices_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT devices_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	-- the id that the app gave the device
	device_id text NOT NULL,
	first_seen_at timestamptz NOT NULL,
	last_seen_at timestamptz NOT NULL,
	CONSTRAINT devices_organization_id_device_id_key UNIQUE (organization_id, device_id)
);

CREATE TABLE match_attempts (
	id uuid CONSTRAINT match_attempts_pkey PRIMARY KEY,
	at timestamptz NOT NULL,
	organization_id uuid CONSTRAINT match_attempts_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	device_id text,
	matched boolean NOT NULL,
	method text NOT NULL,
	confidence text,
	score integer,
	link_id uuid,
	reason text,
	signals jsonb NOT NULL,
	candidates jsonb NOT NULL
);
CREATE INDEX match_attempts_organization_id_at_idx ON match_attempts (organization_id, at DESC, id DESC);

CREATE TABLE events (
	id uuid CONSTRAINT events_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT events_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	device_id text NOT NULL,
	-- the caller's own id: an event with a known one is counted once
	event_id text,
	event_name text NOT NULL,
	properties jsonb NOT NULL,
	link_id uuid,
	occurred_at timestamptz NOT NULL,
	received_at timestamptz NOT NULL,
	CONSTRAINT events_organization_id_event_id_key UNIQUE (organization_id, event_id)
);
CREATE INDEX events_organization_id_occurred_at_idx ON events (organization_id, occurred_at DESC, id DESC);

-- migrate:down
DROP TABLE events;
DROP TABLE match_attempts;
DROP TABLE devices;
DROP TABLE match_clicks;
DROP TABLE click_counts;
DROP TABLE clicks;
