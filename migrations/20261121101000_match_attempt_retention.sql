-- migrate:up
-- what is still to be forgotten, by its age: misses, and matches that tell of their device
CREATE INDEX match_attempts_at_idx ON match_attempts (at) WHERE NOT matched OR json_array_length(candidates) > 0;

-- migrate:down
DROP INDEX match_attempts_at_idx;
