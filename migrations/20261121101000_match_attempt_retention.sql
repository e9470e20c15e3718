-- migrate:up
-- a match stays, for it is counted, when what tells of its device is cleared; a miss is deleted
ALTER TABLE match_attempts ADD COLUMN forgotten boolean NOT NULL DEFAULT false;
CREATE INDEX match_attempts_at_idx ON match_attempts (at) WHERE NOT forgotten;

-- migrate:down
ALTER TABLE match_attempts DROP COLUMN forgotten;
