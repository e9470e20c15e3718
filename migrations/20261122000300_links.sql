-- migrate:up
-- Links, and what they are made of: domains, channels and templates.

CREATE TABLE domains (
	id uuid CONSTRAINT domains_pkey PRIMARY KEY,
	-- both null in one row only: the shared link domain, whose host name is LINK_DOMAIN
	organization_id uuid CONSTRAINT domains_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	hostname text,
	status text NOT NULL CONSTRAINT domains_status_check CHECK (status IN ('PENDING', 'VERIFIED', 'REJECTED')),
	-- the value that the TXT record _oplink.HOSTNAME must hold
	verification_token text,
	verified_at timestamptz,
	-- old addresses keep working: what stands before a code in them, without slashes at the ends: {promos,links/share}
	path_prefixes text[] NOT NULL DEFAULT '{}',
	-- where `/` leads; null: 404
	root_url text,
	-- where visitors of unknown codes go on, with {code} for the code; null: 404
	unknown_codes_url text,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL,
	CONSTRAINT domains_shared_check CHECK ((organization_id IS NULL) = (hostname IS NULL))
);
CREATE UNIQUE INDEX domains_shared_key ON domains ((organization_id IS NULL)) WHERE organization_id IS NULL;
CREATE UNIQUE INDEX domains_organization_id_hostname_key ON domains (organization_id, hostname);
CREATE UNIQUE INDEX domains_verified_hostname_key ON domains (hostname) WHERE status = 'VERIFIED';
INSERT INTO domains (id, status, created_at, updated_at)
	VALUES (gen_random_uuid(), 'VERIFIED', now(), now());
ALTER TABLE organizations ADD CONSTRAINT organizations_default_domain_id_fkey
	FOREIGN KEY (default_domain_id) REFERENCES domains (id) ON DELETE SET NULL;

-- Host names that the operator rejected, for every organization, until he approves one: a domain that is removed and added
-- again is rejected again (docs/custom-domains.md).
CREATE TABLE rejected_hostnames (
	hostname text CONSTRAINT rejected_hostnames_pkey PRIMARY KEY,
	rejected_at timestamptz NOT NULL
);

-- Taps of codes that no link has, by day (UTC). The number of codes of a day is limited (config/storage.json); further
-- ones are counted together under the empty code, which no address has.
CREATE TABLE unknown_codes (
	domain_id uuid NOT NULL CONSTRAINT unknown_codes_domain_id_fkey REFERENCES domains (id) ON DELETE CASCADE,
	organization_id uuid NOT NULL
		CONSTRAINT unknown_codes_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	day date NOT NULL,
	code text NOT NULL,
	visits bigint NOT NULL,
	last_at timestamptz NOT NULL,
	CONSTRAINT unknown_codes_pkey PRIMARY KEY (domain_id, day, code)
);
CREATE INDEX unknown_codes_organization_id_idx ON unknown_codes (organization_id);
-- for the deletion of old days
CREATE INDEX unknown_codes_day_idx ON unknown_codes (day);

CREATE TABLE channels (
	id uuid CONSTRAINT channels_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT channels_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	name text NOT NULL,
	created_at timestamptz NOT NULL,
	CONSTRAINT channels_organization_id_name_key UNIQUE (organization_id, name)
);

CREATE TABLE templates (
	id uuid CONSTRAINT templates_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT templates_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	name text NOT NULL,
	path text,
	params jsonb,
	og_title text,
	og_description text,
	og_image_url text,
	fallback_url text,
	destinations jsonb,
	minimum_version jsonb,
	channel text,
	tags text[],
	utm_source text,
	utm_medium text,
	utm_campaign text,
	utm_term text,
	utm_content text,
	deferred_deep_linking boolean,
	match_window_hours integer,
	-- what apps may set of links that they create from the template: {fields, pathPrefix?}; null: they create none
	client_create jsonb,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL,
	CONSTRAINT templates_organization_id_name_key UNIQUE (organization_id, name)
);

-- a null column is a field that the link leaves to its template, and then to the organization
CREATE TABLE links (
	id uuid CONSTRAINT links_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT links_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	domain_id uuid NOT NULL CONSTRAINT links_domain_id_fkey REFERENCES domains (id),
	template_id uuid CONSTRAINT links_template_id_fkey REFERENCES templates (id),
	short_code text NOT NULL,
	external_id text,
	path text,
	params jsonb,
	title text,
	tags text[],
	channel text,
	utm_source text,
	utm_medium text,
	utm_campaign text,
	utm_term text,
	utm_content text,
	fallback_url text,
	-- where people without the app go, by platform, and the least version of the app that the link needs. Only what is set
	-- is stored, and null where that is nothing: {ios, ipad, android, desktop} and {ios, android}.
	destinations jsonb,
	minimum_version jsonb,
	og_title text,
	og_description text,
	og_image_url text,
	expiry timestamptz,
	is_active boolean NOT NULL,
	-- an operator's: {state: 'block' or 'allow', reason, since}; null: lists decide (LINK_POLICY_FILE)
	decision jsonb,
	deferred_deep_linking boolean,
	match_window_hours integer
		CONSTRAINT links_match_window_hours_check CHECK (match_window_hours BETWEEN 1 AND 720),
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL,
	CONSTRAINT links_organization_id_short_code_key UNIQUE (organization_id, short_code),
	CONSTRAINT links_organization_id_external_id_key UNIQUE (organization_id, external_id)
);
CREATE INDEX links_organization_id_created_at_idx ON links (organization_id, created_at DESC, id DESC);
CREATE INDEX links_domain_id_idx ON links (domain_id);
CREATE INDEX links_template_id_idx ON links (template_id);
CREATE INDEX links_blocked_idx ON links (organization_id) WHERE decision ->> 'state' = 'block';

-- Short codes of links that were deleted while an operator blocked them: nobody takes one over for 90 days.
CREATE TABLE blocked_codes (
	organization_id uuid NOT NULL
		CONSTRAINT blocked_codes_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	short_code text NOT NULL,
	deleted_at timestamptz NOT NULL,
	CONSTRAINT blocked_codes_pkey PRIMARY KEY (organization_id, short_code)
);
CREATE INDEX blocked_codes_deleted_at_idx ON blocked_codes (deleted_at);
-- Such a code is taken, for whoever writes it: an insert skips the row, as for a code of another link.
CREATE FUNCTION refuse_blocked_code() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM blocked_codes WHERE organization_id = NEW.organization_id
		AND short_code = NEW.short_code AND deleted_at > NEW.updated_at - interval '90 days') THEN
		RETURN NEW;
	ELSIF TG_OP = 'INSERT' THEN
		RETURN NULL;
	END IF;
	RAISE unique_violation USING CONSTRAINT = 'links_organization_id_short_code_key';
END $$;
CREATE TRIGGER links_blocked_code BEFORE INSERT ON links FOR EACH ROW EXECUTE FUNCTION refuse_blocked_code();
CREATE TRIGGER links_blocked_code_update BEFORE UPDATE OF short_code ON links
	FOR EACH ROW WHEN (NEW.short_code <> OLD.short_code) EXECUTE FUNCTION refuse_blocked_code();

-- how many links an organization has, and how many of them apps created: writers lock this row, so that quotas are exact
CREATE TABLE link_counts (
	organization_id uuid CONSTRAINT link_counts_pkey PRIMARY KEY
		CONSTRAINT link_counts_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	links integer NOT NULL CONSTRAINT link_counts_links_check CHECK (links >= 0),
	app_links integer NOT NULL DEFAULT 0
		CONSTRAINT link_counts_app_links_check CHECK (app_links BETWEEN 0 AND links)
);

CREATE TABLE idempotency_keys (
	organization_id uuid NOT NULL
		CONSTRAINT idempotency_keys_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	key text NOT NULL,
	-- SHA-256 of the request body
	request_hash bytea NOT NULL,
	-- json and not jsonb, which would answer with its fields in another order
	response json NOT NULL,
	created_at timestamptz NOT NULL,
	CONSTRAINT idempotency_keys_pkey PRIMARY KEY (organization_id, key)
);
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at);

-- migrate:down
DROP TABLE idempotency_keys;
DROP TABLE link_counts;
DROP TABLE links;
DROP FUNCTION refuse_blocked_code;
DROP TABLE blocked_codes;
DROP TABLE templates;
DROP TABLE channels;
DROP TABLE unknown_codes;
DROP TABLE rejected_hostnames;
ALTER TABLE organizations DROP CONSTRAINT organizations_default_domain_id_fkey;
DROP TABLE domains;
