-- migrate:up
-- What a click says of who it was in general, once for all clicks of its month that say the same, instead of in each row:
-- 96 bytes a row with its three ids, its time and its writer, where it had 132.

-- Shared by all organizations, and nobody's: no ids, no addresses. Dropped with the clicks of its month.
CREATE TABLE click_contexts (
	-- of what the row says, so that whoever writes a click knows it without asking: click_context_id
	id bigint CONSTRAINT click_contexts_pkey PRIMARY KEY,
	month date NOT NULL,
	platform text,
	os text,
	os_version text,
	browser text,
	device_model text,
	language text,
	timezone text,
	country text,
	-- what kind of crawler it was; null: a person
	bot_class text
);
CREATE INDEX click_contexts_month_idx ON click_contexts (month);

-- 64 bits of the SHA-256 of the values as a row of COPY's text format has them; src/clicks/click-context.ts does the same.
CREATE FUNCTION click_context_id(VARIADIC told text[]) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT CAST(CAST('x' || encode(substr(sha256(convert_to(string_agg(coalesce(replace(replace(replace(replace(
		word, E'\\', E'\\\\'), E'\t', E'\\t'), E'\n', E'\\n'), E'\r', E'\\r'), E'\\N'), E'\t' ORDER BY place), 'UTF8')), 1, 8), 'hex')
		AS bit(64)) AS bigint)
	FROM unnest(told) WITH ORDINALITY AS words (word, place)
$$;

-- The id of a context, which is there when this returns.
CREATE FUNCTION keep_click_context(
	clicked_at timestamptz, platform text, os text, os_version text, browser text, device_model text, language text,
	timezone text, country text, bot_class text
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	month date := date_trunc('month', clicked_at AT TIME ZONE 'UTC');
	context_id bigint := click_context_id(to_char(month, 'YYYY-MM-DD'), platform, os, os_version, browser, device_model,
		language, timezone, country, bot_class);
BEGIN
	INSERT INTO click_contexts VALUES (context_id, month, platform, os, os_version, browser, device_model, language,
		timezone, country, bot_class) ON CONFLICT DO NOTHING;
	RETURN context_id;
END $$;

-- A new table: rows go on having a place for each column that is dropped. What has a fixed length comes first, and there
-- are no more columns than one byte tells to be null or not.
DROP INDEX clicks_organization_id_step_idx, clicks_link_id_step_idx, clicks_writer_idx;
ALTER TABLE clicks RENAME TO earlier_clicks;
CREATE TABLE clicks (
	id uuid NOT NULL,
	occurred_at timestamptz NOT NULL,
	organization_id uuid NOT NULL,
	link_id uuid NOT NULL,
	-- null: a person of whom nothing is known
	context_id bigint,
	channel text,
	referrer_host text,
	-- the transaction that wrote the row; the rollups tell by it what they hold
	writer xid8 NOT NULL DEFAULT pg_current_xact_id()
) PARTITION BY RANGE (occurred_at);
CREATE INDEX clicks_organization_id_step_idx
	ON clicks (organization_id, date_bin('10 minutes', occurred_at, '2000-01-01T00:00:00Z'));
CREATE INDEX clicks_link_id_step_idx ON clicks (link_id, date_bin('1 day', occurred_at, '2000-01-01T00:00:00Z'));
CREATE INDEX clicks_writer_idx ON clicks (writer);

DO $$
DECLARE
	part text;
	bounds text;
	-- as contexts' ids are made of it
	month text;
	words text := 'platform, os, os_version, browser, device_model, language, timezone, country, bot_class';
BEGIN
	FOR part, bounds, month IN SELECT relname, pg_get_expr(relpartbound, pg_class.oid),
			replace(right(relname, 7), '_', '-') || '-01'
		FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'earlier_clicks'::regclass
	LOOP
		EXECUTE format('DROP INDEX %I', part || '_pkey');
		EXECUTE format('ALTER TABLE %I RENAME TO %I', part, 'earlier_' || part);
		EXECUTE format('INSERT INTO click_contexts SELECT click_context_id(%1$L, %2$s), date %1$L, * FROM (SELECT DISTINCT %2$s FROM %3$I) AS told',
			month, words, 'earlier_' || part);
		EXECUTE format('CREATE TABLE %I (LIKE clicks INCLUDING DEFAULTS)', part);
		-- Found by all words as one text: of whole rows, which may be null in parts, PostgreSQL makes no hash table.
		EXECUTE format('WITH told AS MATERIALIZED (
				SELECT id, CAST(ROW(%1$s) AS text) AS words FROM click_contexts WHERE month = %2$L
			)
			INSERT INTO %3$I (id, occurred_at, organization_id, link_id, context_id, channel, referrer_host, writer)
			SELECT clicks.id, occurred_at, organization_id, link_id, told.id, channel, referrer_host, writer
			FROM %4$I AS clicks JOIN told ON told.words = CAST(ROW(%1$s) AS text)', words, month, part, 'earlier_' || part);
		EXECUTE format('CREATE UNIQUE INDEX %I ON %I (id)', part || '_pkey', part);
		EXECUTE format('ALTER TABLE clicks ATTACH PARTITION %I %s', part, bounds);
	END LOOP;
END $$;
DROP TABLE earlier_clicks;

-- migrate:down
DROP INDEX clicks_organization_id_step_idx, clicks_link_id_step_idx, clicks_writer_idx;
ALTER TABLE clicks RENAME TO later_clicks;
CREATE TABLE clicks (
	id uuid NOT NULL,
	occurred_at timestamptz NOT NULL,
	organization_id uuid NOT NULL,
	link_id uuid NOT NULL,
	channel text,
	platform text,
	os text,
	os_version text,
	browser text,
	device_model text,
	language text,
	timezone text,
	referrer_host text,
	country text,
	-- what kind of crawler it was; null: a person's click
	bot_class text,
	writer xid8 NOT NULL DEFAULT pg_current_xact_id()
) PARTITION BY RANGE (occurred_at);
CREATE INDEX clicks_organization_id_step_idx
	ON clicks (organization_id, date_bin('10 minutes', occurred_at, '2000-01-01T00:00:00Z'));
CREATE INDEX clicks_link_id_step_idx ON clicks (link_id, date_bin('1 day', occurred_at, '2000-01-01T00:00:00Z'));
CREATE INDEX clicks_writer_idx ON clicks (writer);
DO $$
DECLARE
	part text;
	bounds text;
BEGIN
	FOR part, bounds IN SELECT relname, pg_get_expr(relpartbound, pg_class.oid)
		FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'later_clicks'::regclass
	LOOP
		EXECUTE format('DROP INDEX %I', part || '_pkey');
		EXECUTE format('ALTER TABLE %I RENAME TO %I', part, 'later_' || part);
		EXECUTE format('CREATE TABLE %I (LIKE clicks INCLUDING DEFAULTS)', part);
		EXECUTE format('INSERT INTO %I SELECT clicks.id, occurred_at, organization_id, link_id, channel, platform, os, os_version,
				browser, device_model, language, timezone, referrer_host, country, bot_class, writer
			FROM %I AS clicks LEFT JOIN click_contexts ON click_contexts.id = context_id', part, 'later_' || part);
		EXECUTE format('CREATE UNIQUE INDEX %I ON %I (id)', part || '_pkey', part);
		EXECUTE format('ALTER TABLE clicks ATTACH PARTITION %I %s', part, bounds);
	END LOOP;
END $$;
DROP TABLE later_clicks;
DROP FUNCTION keep_click_context;
DROP FUNCTION click_context_id;
DROP TABLE click_contexts;
