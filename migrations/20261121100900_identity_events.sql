-- migrate:up
-- verified events of the identity provider, and what became of each
CREATE TABLE identity_events (
	id uuid CONSTRAINT identity_events_pkey PRIMARY KEY,
	-- svix-id: what makes two deliveries the same event
	event_key text NOT NULL CONSTRAINT identity_events_event_key_key UNIQUE,
	type text NOT NULL,
	outcome text NOT NULL CONSTRAINT identity_events_outcome_check CHECK (outcome IN ('APPLIED', 'IGNORED', 'FAILED')),
	-- one sentence: why it changed nothing, or what kept it from being applied
	reason text NOT NULL,
	-- what the event is about, as received
	payload json NOT NULL,
	deliveries integer NOT NULL DEFAULT 1,
	received_at timestamptz NOT NULL,
	processed_at timestamptz NOT NULL
);
CREATE INDEX identity_events_received_at_idx ON identity_events (received_at DESC, id DESC);

-- migrate:down
DROP TABLE identity_events;
