-- migrate:up
-- from when on (UTC) all events are there; what the rollups hold of earlier ones nothing else knows
ALTER TABLE rollups ADD COLUMN events_from timestamptz NOT NULL DEFAULT '-infinity';
-- devices that were not seen for long are found by this, and misses of no organization by the other
CREATE INDEX devices_last_seen_at_idx ON devices (last_seen_at);
CREATE INDEX match_attempts_unowned_idx ON match_attempts (at) WHERE NOT matched AND organization_id IS NULL;

-- Numbers the rows that come from now on by the transaction that writes them, and has the ones that are there added up
-- anew. Counts of clicks and events that have been deleted stay, because nothing else knows them.
CREATE OR REPLACE FUNCTION restart_rollups() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	counted text;
	kept_before timestamptz;
	known_from timestamptz;
BEGIN
	FOREACH counted IN ARRAY ARRAY['clicks', 'match_attempts', 'events'] LOOP
		EXECUTE format('ALTER TABLE %I DROP COLUMN IF EXISTS writer', counted);
		-- a constant first, which needs no rewrite of the rows that are there
		EXECUTE format('ALTER TABLE %I ADD COLUMN writer xid8 NOT NULL DEFAULT ''0''', counted);
		EXECUTE format('ALTER TABLE %I ALTER COLUMN writer SET DEFAULT pg_current_xact_id()', counted);
		EXECUTE format('CREATE INDEX %I ON %I (writer)', counted || '_writer_idx', counted);
	END LOOP;
	SELECT coalesce(date_trunc('month', min(occurred_at), 'UTC'), 'infinity') INTO kept_before FROM clicks;
	SELECT coalesce(max(events_from), '-infinity') INTO known_from FROM rollups;
	-- due to be deleted, and counted
	DELETE FROM events WHERE occurred_at < known_from;
	DELETE FROM rollup_breakdowns WHERE start >= kept_before OR dimension = 'matchMethod';
	DELETE FROM rollup_days WHERE start >= kept_before;
	DELETE FROM rollup_quarters WHERE start >= greatest(kept_before, known_from);
	UPDATE rollup_quarters SET matches = 0,
		clicks = CASE WHEN start >= kept_before THEN 0 ELSE clicks END,
		crawler_views = CASE WHEN start >= kept_before THEN 0 ELSE crawler_views END,
		events = CASE WHEN start >= known_from THEN 0 ELSE events END;
	DELETE FROM rollups;
	-- a transaction that is under way and waits for this one may yet write rows with its number: it is none of these
	INSERT INTO rollups (cluster, rolled, backfill_organization_id, backfill_from, events_from)
		SELECT system_identifier, pg_current_snapshot(), '00000000-0000-0000-0000-000000000000', '-infinity', known_from
		FROM pg_control_system();
END $$;

-- migrate:down
CREATE OR REPLACE FUNCTION restart_rollups() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	counted text;
	kept_before timestamptz;
BEGIN
	FOREACH counted IN ARRAY ARRAY['clicks', 'match_attempts', 'events'] LOOP
		EXECUTE format('ALTER TABLE %I DROP COLUMN IF EXISTS writer', counted);
		EXECUTE format('ALTER TABLE %I ADD COLUMN writer xid8 NOT NULL DEFAULT ''0''', counted);
		EXECUTE format('ALTER TABLE %I ALTER COLUMN writer SET DEFAULT pg_current_xact_id()', counted);
		EXECUTE format('CREATE INDEX %I ON %I (writer)', counted || '_writer_idx', counted);
	END LOOP;
	SELECT coalesce(date_trunc('month', min(occurred_at), 'UTC'), 'infinity') INTO kept_before FROM clicks;
	DELETE FROM rollup_breakdowns WHERE start >= kept_before OR dimension = 'matchMethod';
	DELETE FROM rollup_days WHERE start >= kept_before;
	DELETE FROM rollup_quarters WHERE start >= kept_before;
	UPDATE rollup_quarters SET matches = 0, events = 0;
	DELETE FROM rollups;
	INSERT INTO rollups (cluster, rolled, backfill_organization_id, backfill_from)
		SELECT system_identifier, pg_current_snapshot(), '00000000-0000-0000-0000-000000000000', '-infinity'
		FROM pg_control_system();
END $$;
DROP INDEX match_attempts_unowned_idx;
DROP INDEX devices_last_seen_at_idx;
ALTER TABLE rollups DROP COLUMN events_from;
