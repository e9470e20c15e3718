-- migrate:up
-- Counts of clicks, matches and events, added up once and for good; docs/dashboard-speed.md tells how they are read.

-- one row: which rows of clicks, match_attempts and events the rollups below hold
CREATE TABLE rollups (
	only_row boolean CONSTRAINT rollups_pkey PRIMARY KEY DEFAULT true CONSTRAINT rollups_only_row_check CHECK (only_row),
	-- the cluster whose transactions `writer` numbers: in a restored copy they mean nothing
	cluster bigint NOT NULL,
	-- the rows of transactions that had ended by this snapshot are in the rollups, no others are
	rolled pg_snapshot NOT NULL,
	-- rows from before rollups (writer 0) are added organization by organization, day by day; null: all are
	backfill_organization_id uuid,
	backfill_from timestamptz NOT NULL
);

-- per quarter of an hour, which every time zone's hours, days and months are made of
CREATE TABLE rollup_quarters (
	organization_id uuid NOT NULL
		CONSTRAINT rollup_quarters_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	start timestamptz NOT NULL,
	clicks integer NOT NULL,
	crawler_views integer NOT NULL,
	matches integer NOT NULL,
	events integer NOT NULL,
	CONSTRAINT rollup_quarters_pkey PRIMARY KEY (organization_id, start)
) WITH (fillfactor = 80);

-- per day (UTC): how much there is to read, and whether its breakdowns are kept by the hour, too
CREATE TABLE rollup_days (
	organization_id uuid NOT NULL
		CONSTRAINT rollup_days_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	start timestamptz NOT NULL,
	-- people's clicks and matches
	counted bigint NOT NULL,
	has_hours boolean NOT NULL,
	CONSTRAINT rollup_days_pkey PRIMARY KEY (organization_id, start)
) WITH (fillfactor = 80);

-- per month, day and, on busy days, hour (all UTC)
CREATE TABLE rollup_breakdowns (
	organization_id uuid NOT NULL
		CONSTRAINT rollup_breakdowns_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	span text COLLATE "C" NOT NULL
		CONSTRAINT rollup_breakdowns_span_check CHECK (span IN ('hour', 'day', 'month')),
	start timestamptz NOT NULL,
	dimension text COLLATE "C" NOT NULL
		CONSTRAINT rollup_breakdowns_dimension_check
		CHECK (dimension IN ('platform', 'country', 'channel', 'referrer', 'link', 'matchMethod')),
	key text COLLATE "C",
	count bigint NOT NULL,
	CONSTRAINT rollup_breakdowns_key
		UNIQUE NULLS NOT DISTINCT (organization_id, span, start, dimension, key)
) WITH (fillfactor = 80);

-- Numbers the rows that come from now on by the transaction that writes them, and has the ones that are there added up
-- anew. Counts of months whose clicks have been dropped stay, because nothing else knows them.
CREATE FUNCTION restart_rollups() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	counted text;
	kept_before timestamptz;
BEGIN
	FOREACH counted IN ARRAY ARRAY['clicks', 'match_attempts', 'events'] LOOP
		EXECUTE format('ALTER TABLE %I DROP COLUMN IF EXISTS writer', counted);
		-- a constant first, which needs no rewrite of the rows that are there
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
	-- a transaction that is under way and waits for this one may yet write rows with its number: it is none of these
	INSERT INTO rollups (cluster, rolled, backfill_organization_id, backfill_from)
		SELECT system_identifier, pg_current_snapshot(), '00000000-0000-0000-0000-000000000000', '-infinity'
		FROM pg_control_system();
END $$;
SELECT restart_rollups();

-- the figures of one link are counted from its own rows, as those of its clicks are
CREATE INDEX match_attempts_link_id_at_idx ON match_attempts (link_id, at) WHERE matched;
CREATE INDEX events_link_id_occurred_at_idx ON events (link_id, occurred_at) WHERE link_id IS NOT NULL;

-- migrate:down
DROP INDEX events_link_id_occurred_at_idx;
DROP INDEX match_attempts_link_id_at_idx;
DROP FUNCTION restart_rollups();
DROP TABLE rollup_breakdowns;
DROP TABLE rollup_days;
DROP TABLE rollup_quarters;
DROP TABLE rollups;
ALTER TABLE events DROP COLUMN writer;
ALTER TABLE match_attempts DROP COLUMN writer;
ALTER TABLE clicks DROP COLUMN writer;
