-- migrate:up
-- How a counted phone's first open matched: the more came by token, the less one without a token came from a tap.
ALTER TABLE counted_phones ADD COLUMN matched text
	CONSTRAINT counted_phones_matched_check CHECK (matched IN ('token', 'guess'));

-- migrate:down
ALTER TABLE counted_phones DROP COLUMN matched;
