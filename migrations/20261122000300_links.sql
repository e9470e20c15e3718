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
	channel text,
	tags text[],
	utm_source text,
	utm_medium text,
	utm_campaign text,
	utm_term text,
	utm_content text,
	deferred_deep_linking boolean,
	match_window_hours integer,
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
	og_title text,
	og_description text,
	og_image_url text,
	expiry timestamptz,
	is_active boolean NOT NULL,
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

-- how many links an organization has: the quota is one atomic step on this row
CREATE TABLE link_counts (
	organization_id uuid CONSTRAINT link_counts_pkey PRIMARY KEY
		CONSTRAINT link_counts_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	links integer NOT NULL CONSTRAINT link_counts_links_check CHECK (links >= 0)
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
DROP TABLE templates;
DROP TABLE channels;
DROP TABLE rejected_hostnames;
ALTER TABLE organizations DROP CONSTRAINT organizations_default_domain_id_fkey;
DROP TABLE domains;
