-- migrate:up
CREATE TABLE organizations (
	id uuid CONSTRAINT organizations_pkey PRIMARY KEY,
	clerk_org_id text CONSTRAINT organizations_clerk_org_id_key UNIQUE,
	org_key text NOT NULL CONSTRAINT organizations_org_key_key UNIQUE
		CONSTRAINT organizations_org_key_check CHECK (org_key ~ '^[A-Za-z0-9]{4}$'),
	name text NOT NULL,
	status text NOT NULL DEFAULT 'ACTIVE'
		CONSTRAINT organizations_status_check CHECK (status IN ('ACTIVE', 'SUSPENDED')),
	is_ops_org boolean NOT NULL DEFAULT false,
	plan text,
	contact_email text,
	-- the custom domain that new links take; null: the shared link domain
	default_domain_id uuid,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
-- names are compared without case
CREATE UNIQUE INDEX organizations_name_key ON organizations (lower(name));
CREATE INDEX organizations_created_at_idx ON organizations (created_at DESC, id DESC);
CREATE INDEX organizations_default_domain_id_idx ON organizations (default_domain_id);

CREATE TABLE subscriptions (
	id uuid CONSTRAINT subscriptions_pkey PRIMARY KEY,
	organization_id uuid NOT NULL CONSTRAINT subscriptions_organization_id_key UNIQUE
		CONSTRAINT subscriptions_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	plan text NOT NULL,
	status text NOT NULL
		CONSTRAINT subscriptions_status_check CHECK (status IN ('INACTIVE', 'ACTIVE', 'PAST_DUE', 'CANCELED')),
	gateway text NOT NULL
		CONSTRAINT subscriptions_gateway_check CHECK (gateway IN ('GATEWAY_A', 'GATEWAY_B', 'MANUAL')),
	gateway_subscription_id text,
	gateway_customer_id text,
	current_period_start timestamptz,
	current_period_end timestamptz,
	cancel_at_period_end boolean NOT NULL DEFAULT false,
	scheduled_plan text,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);

CREATE TABLE api_keys (
	id uuid CONSTRAINT api_keys_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT api_keys_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	tier text NOT NULL CONSTRAINT api_keys_tier_check CHECK (tier IN ('CLIENT', 'SERVER')),
	-- the first 16 characters of the raw key: what a lookup starts from
	prefix text NOT NULL,
	-- SHA-256 of the raw key
	key_hash bytea NOT NULL CONSTRAINT api_keys_key_hash_key UNIQUE,
	-- the raw key, encrypted where OPLINK_KEY_SECRET is set; null for legacy rows
	display_key text,
	is_revoked boolean NOT NULL DEFAULT false,
	revoked_at timestamptz,
	expires_at timestamptz,
	last_used_at timestamptz,
	created_at timestamptz NOT NULL
);
CREATE INDEX api_keys_prefix_idx ON api_keys (prefix);
CREATE INDEX api_keys_organization_id_idx ON api_keys (organization_id);
-- one current key per tier, so that two first reads or two rotations at once cannot leave two
CREATE UNIQUE INDEX api_keys_current_key ON api_keys (organization_id, tier)
	WHERE NOT is_revoked AND expires_at IS NULL;

CREATE TABLE app_configs (
	organization_id uuid CONSTRAINT app_configs_pkey PRIMARY KEY
		CONSTRAINT app_configs_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	-- {bundleId, teamId, appStoreId, scheme}
	ios jsonb,
	-- [{packageName, sha256Fingerprints, scheme}]
	android jsonb NOT NULL,
	fallback_url text,
	og_title text,
	og_description text,
	og_image_url text,
	probabilistic_matching boolean NOT NULL,
	minimum_confidence text NOT NULL
		CONSTRAINT app_configs_minimum_confidence_check CHECK (minimum_confidence IN ('exact', 'high', 'medium', 'low')),
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);

CREATE TABLE audit_log (
	id uuid CONSTRAINT audit_log_pkey PRIMARY KEY,
	at timestamptz NOT NULL,
	-- no foreign key: the record outlives what it tells of
	organization_id uuid,
	actor_type text NOT NULL,
	actor_id text,
	actor_name text,
	action text NOT NULL,
	entity_type text NOT NULL,
	entity_id text,
	request_id text,
	details jsonb
);
CREATE INDEX audit_log_organization_id_at_idx ON audit_log (organization_id, at DESC, id DESC);

-- what the installation remembers of itself
CREATE TABLE settings (
	name text CONSTRAINT settings_pkey PRIMARY KEY,
	value jsonb NOT NULL
);

-- migrate:down
DROP TABLE settings;
DROP TABLE audit_log;
DROP TABLE app_configs;
DROP TABLE api_keys;
DROP TABLE subscriptions;
DROP TABLE organizations;
