-- migrate:up
-- Counts of clicks, matches and events, added up once and for good; docs/internals.md says how they are read.

-- one row: which rows of clicks, match_attempts and events the rollups below hold
CREATE TABLE rollups (
	only_row boolean CONSTRAINT rollups_pkey PRIMARY KEY DEFAULT true CONSTRAINT rollups_only_row_check CHECK (only_row),
	-- the cluster whose transactions `writer` numbers: in a restored copy they mean nothing
	cluster bigint NOT NULL,
	-- the rows of transactions that had ended by this snapshot are in the rollups, no others are
	rolled pg_snapshot NOT NULL,
	-- rows that were restored into this cluster (writer 0) are added organization by organization, day by day; null: all are
	backfill_organization_id uuid,
	backfill_from timestamptz NOT NULL,
	-- from when on (UTC) all events are there; of earlier ones only the rollups know
	events_from timestamptz NOT NULL DEFAULT '-infinity',
	-- months before that have been dropped from the clicks
	clicks_from timestamptz NOT NULL DEFAULT '-infinity',
	-- the month that ClickHouse is dropping, whose clicks are counted in rollup_links; null: none
	dropping timestamptz
);
-- a snapshot by which no transaction had ended: nothing is added up yet
INSERT INTO rollups (cluster, rolled, backfill_from) SELECT system_identifier, '1:1:', '-infinity' FROM pg_control_system();

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

-- per month and day, on busy days with the hours of the day (all UTC)
CREATE TABLE rollup_breakdowns (
	organization_id uuid NOT NULL
		CONSTRAINT rollup_breakdowns_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	span text COLLATE "C" NOT NULL
		CONSTRAINT rollup_breakdowns_span_check CHECK (span IN ('day', 'month')),
	start timestamptz NOT NULL,
	dimension text COLLATE "C" NOT NULL
		CONSTRAINT rollup_breakdowns_dimension_check
		CHECK (dimension IN ('platform', 'country', 'channel', 'referrer', 'link', 'matchMethod', 'os', 'browser', 'language',
			'deviceModel', 'utmSource', 'utmMedium', 'utmCampaign', 'utmContent', 'utmTerm', 'host')),
	key text COLLATE "C",
	count bigint NOT NULL,
	-- of a busy day: the counts of its 24 hours
	hours integer[]
) WITH (fillfactor = 80);
-- one row also where there is no key: PostgreSQL 14 knows no NULLS NOT DISTINCT. The dimension first: a report reads few.
CREATE UNIQUE INDEX rollup_breakdowns_key
	ON rollup_breakdowns (organization_id, span, dimension, start, coalesce(key, ''), (key IS NULL));

-- Visits and events of links whose rows have been deleted by their age: reports of some links count rows while they are
-- there. A quarter of an hour may be there more than once.
CREATE TABLE rollup_links (
	organization_id uuid NOT NULL
		CONSTRAINT rollup_links_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	link_id uuid NOT NULL,
	month timestamptz NOT NULL,
	-- quarters of an hour since the month began (UTC), and their counts
	quarters smallint[] NOT NULL,
	clicks integer[] NOT NULL,
	crawler_views integer[] NOT NULL,
	events integer[] NOT NULL,
	CONSTRAINT rollup_links_pkey PRIMARY KEY (organization_id, link_id, month)
);

-- Numbers the rows that come from now on by the transaction that writes them, and has the ones that are there added up
-- anew. Counts of clicks and events that have been deleted stay, because nothing else knows them.
CREATE OR REPLACE FUNCTION restart_rollups() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	counted text;
	kept_before timestamptz;
	known_from timestamptz;
	dropped_before timestamptz;
BEGIN
	FOREACH counted IN ARRAY ARRAY['clicks', 'match_attempts', 'events'] LOOP
		EXECUTE format('ALTER TABLE %I DROP COLUMN IF EXISTS writer', counted);
		-- a constant first, which needs no rewrite of the rows that are there
		EXECUTE format('ALTER TABLE %I ADD COLUMN writer xid8 NOT NULL DEFAULT ''0''', counted);
		EXECUTE format('ALTER TABLE %I ALTER COLUMN writer SET DEFAULT pg_current_xact_id()', counted);
		EXECUTE format('CREATE INDEX %I ON %I (writer)', counted || '_writer_idx', counted);
	END LOOP;
	SELECT coalesce(date_trunc('month', min(occurred_at), 'UTC'), 'infinity') INTO kept_before FROM clicks;
	SELECT coalesce(max(events_from), '-infinity'), coalesce(max(clicks_from), '-infinity') INTO known_from, dropped_before FROM rollups;
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
	INSERT INTO rollups (cluster, rolled, backfill_organization_id, backfill_from, events_from, clicks_from)
		SELECT system_identifier, pg_current_snapshot(), '00000000-0000-0000-0000-000000000000', '-infinity', known_from,
			dropped_before
		FROM pg_control_system();
END $$;

-- migrate:down
DROP FUNCTION restart_rollups();
DROP TABLE rollup_links;
DROP TABLE rollup_breakdowns;
DROP TABLE rollup_days;
DROP TABLE rollup_quarters;
DROP TABLE rollups;
