-- migrate:up
-- Organizations, their API keys, and the apps that their links open.

CREATE TABLE organizations (
	id uuid CONSTRAINT organizations_pkey PRIMARY KEY,
	-- null: the organization is not mirrored from the identity provider
	clerk_org_id text CONSTRAINT organizations_clerk_org_id_key UNIQUE,
	-- the part of each short link that says whose it is
	org_key text NOT NULL CONSTRAINT organizations_org_key_key UNIQUE
		CONSTRAINT organizations_org_key_check CHECK (org_key ~ '^[A-Za-z0-9]{4}$'),
	name text NOT NULL,
	status text NOT NULL DEFAULT 'ACTIVE'
		CONSTRAINT organizations_status_check CHECK (status IN ('ACTIVE', 'SUSPENDED')),
	is_ops_org boolean NOT NULL DEFAULT false,
	plan text,
	-- until when the organization has what its plan gives; null: without an end. It changes with the subscription, in the
	-- same transaction, so that no read of a plan has to look there.
	entitled_until timestamptz,
	contact_email text,
	-- the custom domain that new links take; null: the shared link domain. Its foreign key comes with `domains`.
	default_domain_id uuid,
	-- updated_at of the provider's own record: an update that is older is stale; null where only a membership named it
	provider_updated_at timestamptz,
	-- the name at the provider: a name that was set here stays until this one changes
	provider_name text,
	-- the contact that was taken from the first owner: any other one was set here, and stays
	mirrored_contact_email text,
	-- names are not unique at the provider: a mirrored organization may have one that is in use here
	shares_name boolean NOT NULL DEFAULT false,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
-- names are compared without case
CREATE UNIQUE INDEX organizations_name_key ON organizations (lower(name)) WHERE NOT shares_name;
CREATE INDEX organizations_created_at_idx ON organizations (created_at DESC, id DESC);
CREATE INDEX organizations_default_domain_id_idx ON organizations (default_domain_id);

-- OrgKeys of organizations that were deleted: links with them are printed and in apps, and must never lead to somebody
-- else's. Written with the deletion, whoever deletes.
CREATE TABLE retired_org_keys (
	org_key text CONSTRAINT retired_org_keys_pkey PRIMARY KEY
);
CREATE FUNCTION retire_org_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO retired_org_keys (org_key) VALUES (OLD.org_key) ON CONFLICT DO NOTHING;
	RETURN NULL;
END $$;
CREATE TRIGGER organizations_retire_org_key AFTER DELETE ON organizations
	FOR EACH ROW EXECUTE FUNCTION retire_org_key();

-- No row is inserted, as where another organization has the orgKey: the caller tries the next one. A deletion that is
-- under way is waited for: until it has ended the orgKey is neither retired nor free. What follows the wait is a statement
-- of its own, which sees what the deletion has written.
CREATE FUNCTION refuse_retired_org_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM organizations WHERE org_key = NEW.org_key FOR KEY SHARE;
	RETURN CASE WHEN EXISTS (SELECT FROM retired_org_keys WHERE org_key = NEW.org_key) THEN NULL ELSE NEW END;
END $$;
CREATE TRIGGER organizations_refuse_retired_org_key BEFORE INSERT ON organizations
	FOR EACH ROW EXECUTE FUNCTION refuse_retired_org_key();

CREATE TABLE api_keys (
	id uuid CONSTRAINT api_keys_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT api_keys_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	tier text NOT NULL CONSTRAINT api_keys_tier_check CHECK (tier IN ('CLIENT', 'SERVER')),
	-- the first 16 characters of the raw key: what a lookup starts from
	prefix text NOT NULL,
	-- SHA-256 of the raw key
	key_hash bytea NOT NULL CONSTRAINT api_keys_key_hash_key UNIQUE,
	-- the raw key, encrypted where OPLINK_KEY_SECRET is set; null: it cannot be shown again
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
	-- since when the iOS app is in the association file of the shared link domain; null: it is not. The file is limited in
	-- size, so that a place in it is taken (src/links/app-config/shared-apps.ts).
	shared_at timestamptz,
	-- paths of custom domains that stay in the browser, as association files compare them; null if there are none
	browser_paths text[],
	fallback_url text,
	-- as a link's own
	destinations jsonb,
	minimum_version jsonb,
	og_title text,
	og_description text,
	og_image_url text,
	-- the picture beside the organization's name on its pages, in the place of an initial
	logo_url text,
	-- whether people get a page instead of JSON where a link does not exist or is gone
	error_pages boolean NOT NULL DEFAULT false,
	-- what pages copy: the token, or the short URL with the token as its fragment; null: nobody has chosen, so the token
	clipboard_format text
		CONSTRAINT app_configs_clipboard_format_check CHECK (clipboard_format IN ('token', 'url')),
	probabilistic_matching boolean NOT NULL,
	minimum_confidence text NOT NULL
		CONSTRAINT app_configs_minimum_confidence_check CHECK (minimum_confidence IN ('exact', 'high', 'medium', 'low')),
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
CREATE INDEX app_configs_shared_at_idx ON app_configs (shared_at) WHERE shared_at IS NOT NULL;

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
DROP TABLE app_configs;
DROP TABLE api_keys;
DROP TABLE organizations;
DROP FUNCTION refuse_retired_org_key();
DROP FUNCTION retire_org_key();
DROP TABLE retired_org_keys;
