-- migrate:up
ALTER TABLE billing_attempts
	-- gateway B: when it was asked last what became of the attempt; null: never
	ADD COLUMN asked_at timestamptz;

-- migrate:down
ALTER TABLE billing_attempts DROP COLUMN asked_at;
