-- migrate:up
ALTER TABLE billing_attempts
	-- gateway B: when a saved card was charged for it, written before the card is charged, so that no crash leads to a
	-- second charge; null: the customer pays on the gateway's page
	ADD COLUMN charged_at timestamptz;

-- payments of gateway B that are not kept: given back by us, or there by somebody else. They outlive the organization.
CREATE TABLE payment_reversals (
	transaction_id text CONSTRAINT payment_reversals_pkey PRIMARY KEY,
	organization_id uuid
		CONSTRAINT payment_reversals_organization_id_fkey REFERENCES organizations (id) ON DELETE SET NULL,
	attempt_id uuid CONSTRAINT payment_reversals_attempt_id_fkey REFERENCES billing_attempts (id) ON DELETE SET NULL,
	amount_minor bigint NOT NULL,
	-- why we give it back; null: it was given back at the gateway
	reason text,
	-- the ledger's event that shows what came of it
	event_key text NOT NULL,
	status text NOT NULL CONSTRAINT payment_reversals_status_check CHECK (status IN ('PENDING', 'VOIDED', 'REFUNDED')),
	tries integer NOT NULL DEFAULT 0,
	next_try_at timestamptz NOT NULL,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
CREATE INDEX payment_reversals_pending_idx ON payment_reversals (next_try_at) WHERE status = 'PENDING';
CREATE INDEX payment_reversals_organization_id_idx ON payment_reversals (organization_id);
CREATE INDEX payment_reversals_attempt_id_idx ON payment_reversals (attempt_id);

-- migrate:down
DROP TABLE payment_reversals;
ALTER TABLE billing_attempts DROP COLUMN charged_at;
