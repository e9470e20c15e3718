-- migrate:up
-- what addresses and device ids are hashed with, a secret a week; older ones than the last two are deleted, and with
-- them every way back from a hash
CREATE TABLE match_peppers (
	-- whole weeks since 1970
	week integer CONSTRAINT match_peppers_pkey PRIMARY KEY,
	secret bytea NOT NULL
);

-- a click that an app's first open may still claim
CREATE TABLE match_clicks (
	id uuid CONSTRAINT match_clicks_pkey PRIMARY KEY,
	-- the row of clicks, which happened at created_at
	click_id uuid NOT NULL,
	organization_id uuid NOT NULL,
	link_id uuid NOT NULL CONSTRAINT match_clicks_link_id_fkey REFERENCES links (id) ON DELETE CASCADE,
	-- SHA-256 of the token that the page carried
	token_hash bytea NOT NULL CONSTRAINT match_clicks_token_hash_key UNIQUE,
	-- keyed hashes of the address and of its network
	ip_key bytea,
	net_key bytea,
	platform text CONSTRAINT match_clicks_platform_check CHECK (platform IN ('ios', 'android', 'desktop')),
	os_major integer,
	os_minor integer,
	os_patch integer,
	-- how far the version is to be believed
	os_precision text CONSTRAINT match_clicks_os_precision_check CHECK (os_precision IN ('patch', 'minor', 'major')),
	-- as the browser told them; they are normalised where they are compared
	device_model text,
	language text,
	timezone text,
	-- SHA-256 of the visitor's cookie
	visitor bytea,
	-- when the page's own signals came in
	signals_at timestamptz,
	created_at timestamptz NOT NULL,
	-- the end of the link's match window
	expires_at timestamptz NOT NULL,
	consumed_at timestamptz,
	-- keyed hash of the device; null where the click was closed together with another one of the same visitor
	consumed_by bytea,
	consumed_method text,
	consumed_confidence text,
	consumed_score integer,
	-- whether what tells of the person is gone
	forgotten boolean NOT NULL DEFAULT false
);
-- the organization is in the index so that a search for one tenant reads no rows of the others
CREATE INDEX match_clicks_ip_open_idx ON match_clicks (ip_key, created_at DESC, organization_id)
	WHERE consumed_at IS NULL;
CREATE INDEX match_clicks_net_open_idx ON match_clicks (net_key, created_at DESC, organization_id)
	WHERE consumed_at IS NULL;
CREATE INDEX match_clicks_ip_consumed_idx ON match_clicks (ip_key, consumed_at DESC, organization_id)
	WHERE consumed_at IS NOT NULL;
CREATE INDEX match_clicks_consumer_idx ON match_clicks (consumed_by, consumed_at DESC) WHERE consumed_by IS NOT NULL;
CREATE INDEX match_clicks_link_id_visitor_idx ON match_clicks (link_id, visitor);
CREATE INDEX match_clicks_expires_at_idx ON match_clicks (expires_at) WHERE NOT forgotten;
CREATE INDEX match_clicks_consumed_at_idx ON match_clicks (consumed_at) WHERE NOT forgotten AND consumed_at IS NOT NULL;
CREATE INDEX match_clicks_forgotten_idx ON match_clicks (expires_at) WHERE forgotten;

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
	-- the last one that was begun
	session_id uuid,
	-- who the app says its user is
	external_user_id text,
	traits jsonb,
	-- what the device was last matched to; no foreign key: events go on telling of a link that is gone
	matched_link_id uuid,
	matched_at timestamptz,
	first_seen_at timestamptz NOT NULL,
	last_seen_at timestamptz NOT NULL,
	CONSTRAINT devices_organization_id_device_id_key UNIQUE (organization_id, device_id)
);

-- every request for a match and why it ended as it did; without tokens and addresses
CREATE TABLE match_attempts (
	id uuid CONSTRAINT match_attempts_pkey PRIMARY KEY,
	at timestamptz NOT NULL,
	-- null for a miss that nobody can be told of
	organization_id uuid CONSTRAINT match_attempts_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	device_id text,
	matched boolean NOT NULL,
	method text NOT NULL,
	confidence text,
	score integer,
	link_id uuid,
	reason text,
	-- json and not jsonb, which would answer with its fields in another order
	signals json NOT NULL,
	candidates json NOT NULL,
	-- of a match by token: what a guess would have answered, which tells how good guesses are
	silent_guess json
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
DROP TABLE match_peppers;
