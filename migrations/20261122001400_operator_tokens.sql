-- migrate:up
-- Tokens of operators and pipelines, which have names and scopes (contract/api-keys 9).
CREATE TABLE operator_tokens (
	id uuid CONSTRAINT operator_tokens_pkey PRIMARY KEY,
	name text NOT NULL,
	-- SHA-256 of the token, which is shown once
	token_hash bytea NOT NULL CONSTRAINT operator_tokens_token_hash_key UNIQUE,
	scopes text[] NOT NULL,
	-- the only organization that it reaches; null: all
	organization_id uuid CONSTRAINT operator_tokens_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	created_by text NOT NULL,
	-- the token that made it, whose revocation is its own
	made_by uuid CONSTRAINT operator_tokens_made_by_fkey REFERENCES operator_tokens (id),
	created_at timestamptz NOT NULL,
	expires_at timestamptz,
	-- by day, so that a use is seldom a write
	last_used_on date,
	revoked_at timestamptz,
	CONSTRAINT operator_tokens_moderation_check CHECK (organization_id IS NULL OR 'moderation' <> ALL (scopes))
);
CREATE UNIQUE INDEX operator_tokens_name_key ON operator_tokens (name) WHERE revoked_at IS NULL;
CREATE INDEX operator_tokens_organization_id_idx ON operator_tokens (organization_id);
CREATE INDEX operator_tokens_made_by_idx ON operator_tokens (made_by);

-- migrate:down
DROP TABLE operator_tokens;
