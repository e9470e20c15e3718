-- migrate:up
-- Teams: people and their memberships, mirrored from the identity provider, whose deliveries may come twice, late or in
-- any order.

CREATE TABLE users (
	id uuid CONSTRAINT users_pkey PRIMARY KEY,
	clerk_user_id text CONSTRAINT users_clerk_user_id_key UNIQUE,
	-- lower case; null where the provider has none, or another user has it
	email text CONSTRAINT users_email_key UNIQUE,
	-- whether the provider has verified the address, so that it proves who somebody is
	is_email_verified boolean NOT NULL DEFAULT true,
	name text NOT NULL DEFAULT '',
	last_login_at timestamptz,
	-- a coarse flag of the application, not the role of a membership
	role text NOT NULL DEFAULT 'USER' CONSTRAINT users_role_check CHECK (role IN ('ADMIN', 'USER')),
	-- updated_at of the provider's own record; null where only a membership named the user
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
	-- the provider's membership; null where its id is not known yet
	clerk_membership_id text,
	-- created_at and updated_at of the provider's membership
	provider_created_at timestamptz,
	provider_updated_at timestamptz,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL,
	CONSTRAINT org_members_pkey PRIMARY KEY (organization_id, user_id)
);
CREATE INDEX org_members_user_id_idx ON org_members (user_id);
CREATE INDEX org_members_clerk_membership_id_idx ON org_members (clerk_membership_id);

-- who joined an organization as its owner; the first of them with an address is its contact
CREATE TABLE organization_owners (
	organization_id uuid NOT NULL
		CONSTRAINT organization_owners_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	clerk_user_id text NOT NULL,
	-- the address in the membership; null: the user's own address counts
	email text,
	-- created_at of the provider's membership
	since timestamptz NOT NULL,
	CONSTRAINT organization_owners_pkey PRIMARY KEY (organization_id, clerk_user_id)
);
CREATE INDEX organization_owners_clerk_user_id_idx ON organization_owners (clerk_user_id);

-- roles of memberships whose 'updated' came before their 'created'
CREATE TABLE awaited_roles (
	clerk_membership_id text CONSTRAINT awaited_roles_pkey PRIMARY KEY,
	role text NOT NULL,
	provider_updated_at timestamptz NOT NULL,
	received_at timestamptz NOT NULL
);
CREATE INDEX awaited_roles_received_at_idx ON awaited_roles (received_at);

-- what the provider has deleted, so that a late 'created' does not bring it back
CREATE TABLE identity_tombstones (
	kind text NOT NULL
		-- 'discarded': an organization that must never be mirrored, because it was given up while it was made
		CONSTRAINT identity_tombstones_kind_check CHECK (kind IN ('organization', 'membership', 'discarded')),
	-- the provider's id of what was deleted
	provider_id text NOT NULL,
	-- of a membership: whose, and where
	clerk_org_id text,
	clerk_user_id text,
	-- created_at of the deleted record: the same id with a later one is a new record; null: not known
	provider_created_at timestamptz,
	deleted_at timestamptz NOT NULL,
	CONSTRAINT identity_tombstones_pkey PRIMARY KEY (kind, provider_id)
);
CREATE INDEX identity_tombstones_member_idx ON identity_tombstones (clerk_org_id, clerk_user_id);
CREATE INDEX identity_tombstones_deleted_at_idx ON identity_tombstones (deleted_at);

-- deliveries that were applied: a repeated one changes nothing
CREATE TABLE webhook_deliveries (
	provider text NOT NULL,
	-- svix-id
	delivery_id text NOT NULL,
	received_at timestamptz NOT NULL,
	CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (provider, delivery_id)
);
CREATE INDEX webhook_deliveries_received_at_idx ON webhook_deliveries (received_at);

-- verified events of the identity provider, and what became of each
CREATE TABLE identity_events (
	id uuid CONSTRAINT identity_events_pkey PRIMARY KEY,
	-- svix-id: what makes two deliveries the same event
	event_key text NOT NULL CONSTRAINT identity_events_event_key_key UNIQUE,
	type text NOT NULL,
	outcome text NOT NULL CONSTRAINT identity_events_outcome_check CHECK (outcome IN ('APPLIED', 'IGNORED', 'FAILED')),
	-- one sentence: why it changed nothing, or what kept it from being applied
	reason text NOT NULL,
	-- the text that was signed; null: of a type that changes nothing here
	payload text,
	deliveries integer NOT NULL DEFAULT 1,
	received_at timestamptz NOT NULL,
	processed_at timestamptz NOT NULL
);
CREATE INDEX identity_events_received_at_idx ON identity_events (received_at DESC, id DESC);

-- migrate:down
DROP TABLE identity_events;
DROP TABLE webhook_deliveries;
DROP TABLE identity_tombstones;
DROP TABLE awaited_roles;
DROP TABLE organization_owners;
DROP TABLE org_members;
DROP TABLE users;
