-- migrate:up
-- people, mirrored from the identity provider
CREATE TABLE users (
	id uuid CONSTRAINT users_pkey PRIMARY KEY,
	clerk_user_id text CONSTRAINT users_clerk_user_id_key UNIQUE,
	-- lower case; null where the provider knows none
	email text CONSTRAINT users_email_key UNIQUE,
	name text NOT NULL DEFAULT '',
	last_login_at timestamptz,
	-- a coarse flag of the application, not the role of a membership
	role text NOT NULL DEFAULT 'USER' CONSTRAINT users_role_check CHECK (role IN ('ADMIN', 'USER')),
	-- updated_at of the provider's own record; null where only a membership told of the user
	provider_updated_at timestamptz,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);

CREATE TABLE org_members (
	organization_id uuid NOT NULL
		CONSTRAINT org_members_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	user_id uuid NOT NULL CONSTRAINT org_members_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
	role text NOT NULL
		CONSTRAINT org_members_role_check CHECK (role IN ('OWNER', 'ADMIN', 'DEVELOPER', 'ANALYST', 'VIEWER')),
	-- the provider's membership; null until it is known
	clerk_membership_id text,
	-- created_at and updated_at of the provider's membership
	provider_created_at timestamptz,
	provider_updated_at timestamptz,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL,
	CONSTRAINT org_members_pkey PRIMARY KEY (organization_id, user_id)
);
CREATE INDEX org_members_user_id_idx ON org_members (user_id);

-- updated_at of the provider's own record: an update that is older is stale
ALTER TABLE organizations ADD COLUMN provider_updated_at timestamptz;

-- what the provider has deleted, so that a late 'created' does not bring it back
CREATE TABLE identity_tombstones (
	kind text NOT NULL
		CONSTRAINT identity_tombstones_kind_check CHECK (kind IN ('organization', 'membership')),
	-- the provider's id of what was deleted
	provider_id text NOT NULL,
	-- of a membership: whose, and where
	clerk_org_id text,
	clerk_user_id text,
	-- created_at of the deleted record: the same id with a later one is a new record
	provider_created_at timestamptz,
	deleted_at timestamptz NOT NULL,
	CONSTRAINT identity_tombstones_pkey PRIMARY KEY (kind, provider_id)
);
CREATE INDEX identity_tombstones_member_idx ON identity_tombstones (clerk_org_id, clerk_user_id);

-- deliveries of providers and gateways that were applied: a repeated one changes nothing
CREATE TABLE webhook_deliveries (
	provider text NOT NULL,
	-- svix-id, or the gateway's id of the event
	delivery_id text NOT NULL,
	received_at timestamptz NOT NULL,
	CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (provider, delivery_id)
);
CREATE INDEX webhook_deliveries_received_at_idx ON webhook_deliveries (received_at);

-- migrate:down
DROP TABLE webhook_deliveries;
DROP TABLE identity_tombstones;
ALTER TABLE organizations DROP COLUMN provider_updated_at;
DROP TABLE org_members;
DROP TABLE users;
