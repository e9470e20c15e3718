-- migrate:up
-- Subscriptions, and every payment that two gateways take, refuse or give back.

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
	-- when the row became PAST_DUE: what the plan gives is kept for 7 days from then
	past_due_at timestamptz,
	-- gateway B: the first activation, which the calendar months of its periods are counted from
	anchor_at timestamptz,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX subscriptions_gateway_subscription_id_key ON subscriptions (gateway, gateway_subscription_id);
CREATE INDEX subscriptions_current_period_end_idx ON subscriptions (current_period_end)
	WHERE status IN ('ACTIVE', 'PAST_DUE');

-- one attempt to take money: what was asked for, and what became of it
CREATE TABLE billing_attempts (
	id uuid CONSTRAINT billing_attempts_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT billing_attempts_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	gateway text NOT NULL CONSTRAINT billing_attempts_gateway_check CHECK (gateway IN ('GATEWAY_A', 'GATEWAY_B')),
	purpose text NOT NULL CONSTRAINT billing_attempts_purpose_check CHECK (purpose IN ('FIRST', 'UPGRADE', 'RENEWAL')),
	plan text NOT NULL,
	currency text NOT NULL CONSTRAINT billing_attempts_currency_check CHECK (currency IN ('USD', 'EGP')),
	amount_minor bigint NOT NULL,
	-- gateway A: the price that was asked for
	price_id text,
	status text NOT NULL CONSTRAINT billing_attempts_status_check
		CHECK (status IN ('OPEN', 'PAID', 'FAILED', 'EXPIRED', 'SUPERSEDED', 'REVIEW')),
	-- the checkout session (A), the intention's order (B)
	gateway_ref text,
	-- the intention (B)
	gateway_ref2 text,
	-- what paid it: the invoice (A), the transaction (B)
	transaction_id text,
	-- of a renewal: the period that it pays, and the number of the try
	period_start timestamptz,
	period_end timestamptz,
	retry integer NOT NULL DEFAULT 0,
	last_error text,
	-- gateway B: when a saved card was charged for it, written before the card is charged, so that no crash leads to a
	-- second charge; null: the customer pays on the gateway's page
	charged_at timestamptz,
	-- gateway B: when the gateway was last asked for the outcome; null: never
	asked_at timestamptz,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL,
	CONSTRAINT billing_attempts_gateway_ref_key UNIQUE (gateway, gateway_ref),
	CONSTRAINT billing_attempts_transaction_id_key UNIQUE (gateway, transaction_id)
);
CREATE INDEX billing_attempts_organization_id_idx ON billing_attempts (organization_id, created_at DESC);
CREATE INDEX billing_attempts_open_idx ON billing_attempts (created_at) WHERE status = 'OPEN';
-- one charge per period and try, whoever runs the renewals
CREATE UNIQUE INDEX billing_attempts_renewal_key ON billing_attempts (organization_id, period_start, retry)
	WHERE purpose = 'RENEWAL';

-- paid invoices only
CREATE TABLE billing_invoices (
	id uuid CONSTRAINT billing_invoices_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT billing_invoices_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	gateway text NOT NULL CONSTRAINT billing_invoices_gateway_check CHECK (gateway IN ('GATEWAY_A', 'GATEWAY_B')),
	-- the invoice (A), the transaction (B)
	gateway_invoice_id text NOT NULL,
	number text NOT NULL,
	plan text NOT NULL,
	amount_minor bigint NOT NULL,
	currency text NOT NULL,
	paid_at timestamptz NOT NULL,
	period_start timestamptz,
	period_end timestamptz,
	hosted_url text,
	pdf_url text,
	created_at timestamptz NOT NULL,
	CONSTRAINT billing_invoices_gateway_invoice_id_key UNIQUE (gateway, gateway_invoice_id)
);
CREATE INDEX billing_invoices_organization_id_idx ON billing_invoices (organization_id, paid_at DESC, id DESC);

-- saved cards of gateway B
CREATE TABLE payment_methods (
	id uuid CONSTRAINT payment_methods_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT payment_methods_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	brand text,
	last4 text,
	-- SHA-256 of the token, to know it again; the token itself is encrypted
	token_hash bytea NOT NULL,
	token text NOT NULL,
	created_at timestamptz NOT NULL,
	CONSTRAINT payment_methods_token_key UNIQUE (organization_id, token_hash)
);

-- the ledger: every verified event of a gateway, and what it changed or why it changed nothing
CREATE TABLE gateway_events (
	id uuid CONSTRAINT gateway_events_pkey PRIMARY KEY,
	gateway text NOT NULL CONSTRAINT gateway_events_gateway_check CHECK (gateway IN ('GATEWAY_A', 'GATEWAY_B')),
	-- what makes two deliveries the same event
	event_key text NOT NULL,
	type text NOT NULL,
	outcome text NOT NULL
		CONSTRAINT gateway_events_outcome_check CHECK (outcome IN ('APPLIED', 'IGNORED', 'UNMATCHED', 'REVIEW')),
	-- one sentence: what it changed, or why nothing
	reason text NOT NULL,
	organization_id uuid CONSTRAINT gateway_events_organization_id_fkey REFERENCES organizations (id) ON DELETE SET NULL,
	attempt_id uuid CONSTRAINT gateway_events_attempt_id_fkey REFERENCES billing_attempts (id) ON DELETE SET NULL,
	-- what an unmatched event is looked up by later: the order (B), the subscription (A)
	reference text,
	-- as received; of a saved card encrypted
	payload text NOT NULL,
	deliveries integer NOT NULL DEFAULT 1,
	received_at timestamptz NOT NULL,
	processed_at timestamptz NOT NULL,
	CONSTRAINT gateway_events_event_key_key UNIQUE (gateway, event_key)
);
CREATE INDEX gateway_events_received_at_idx ON gateway_events (received_at DESC, id DESC);
CREATE INDEX gateway_events_organization_id_idx ON gateway_events (organization_id);
CREATE INDEX gateway_events_attempt_id_idx ON gateway_events (attempt_id);
CREATE INDEX gateway_events_unmatched_idx ON gateway_events (gateway, reference) WHERE outcome = 'UNMATCHED';

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
DROP TABLE gateway_events;
DROP TABLE payment_methods;
DROP TABLE billing_invoices;
DROP TABLE billing_attempts;
DROP TABLE subscriptions;
