-- migrate:up
-- Clicks as they come: the table that grows most, so that a row has 96 bytes and few entries in indexes.

-- What clicks say of the visitor in general, once for all clicks of a month that say the same. Shared by all organizations:
-- no ids, no addresses. Dropped with the clicks of its month.
CREATE TABLE click_contexts (
	-- computed from the rest of the row, so that whoever writes a click knows it without asking: click_context_id
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
	-- the host of the visit, without port
	host text,
	-- which kind of crawler; null: a person
	bot_class text
);
CREATE INDEX click_contexts_month_idx ON click_contexts (month);

-- What clicks were made for, in the same way: the link's channel, and the UTM values of the tap, else of the link.
CREATE TABLE click_campaigns (
	id bigint CONSTRAINT click_campaigns_pkey PRIMARY KEY,
	month date NOT NULL,
	channel text,
	utm_source text,
	utm_medium text,
	utm_campaign text,
	utm_content text,
	utm_term text
);
CREATE INDEX click_campaigns_month_idx ON click_campaigns (month);

-- 64 bits of the SHA-256 of the values as a row of COPY's text format has them; src/visits/clicks/click-words.ts does the same.
CREATE FUNCTION click_context_id(VARIADIC fields text[]) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT CAST(CAST('x' || encode(substr(sha256(convert_to(string_agg(coalesce(replace(replace(replace(replace(
		word, E'\\', E'\\\\'), E'\t', E'\\t'), E'\n', E'\\n'), E'\r', E'\\r'), E'\\N'), E'\t' ORDER BY place), 'UTF8')), 1, 8), 'hex')
		AS bit(64)) AS bigint)
	FROM unnest(fields) WITH ORDINALITY AS words (word, place)
$$;

-- The id of a context, which is there when this returns.
CREATE FUNCTION keep_click_context(
	clicked_at timestamptz, platform text, os text, os_version text, browser text, device_model text, language text,
	timezone text, country text, bot_class text, host text DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	month date := date_trunc('month', clicked_at AT TIME ZONE 'UTC');
	context_id bigint := click_context_id(to_char(month, 'YYYY-MM-DD'), platform, os, os_version, browser, device_model,
		language, timezone, country, host, bot_class);
BEGIN
	INSERT INTO click_contexts VALUES (context_id, month, platform, os, os_version, browser, device_model, language,
		timezone, country, host, bot_class) ON CONFLICT DO NOTHING;
	RETURN context_id;
END $$;

-- One partition a month, made by the server before the first click of that month, with a unique index of its own on `id`:
-- a key of the whole table would need the time in it, too. No foreign keys: clicks outlive their link in the figures, and a
-- check per row would cost the redirect page. What has a fixed length comes first, and there are no more columns than one
-- byte can mark as null. Times are indexed in steps: rows of one step share an entry.
CREATE TABLE clicks (
	id uuid NOT NULL,
	occurred_at timestamptz NOT NULL,
	organization_id uuid NOT NULL,
	link_id uuid NOT NULL,
	-- null: a person of whom nothing is known
	context_id bigint,
	-- null: neither a channel nor UTM values
	campaign_id bigint,
	referrer_host text,
	-- the transaction that wrote the row: the rollups know by it which rows they hold
	writer xid8 NOT NULL DEFAULT pg_current_xact_id()
) PARTITION BY RANGE (occurred_at);
CREATE INDEX clicks_organization_id_step_idx
	ON clicks (organization_id, date_bin('10 minutes', occurred_at, '2000-01-01T00:00:00Z'));
CREATE INDEX clicks_link_id_step_idx ON clicks (link_id, date_bin('1 day', occurred_at, '2000-01-01T00:00:00Z'));
CREATE INDEX clicks_writer_idx ON clicks (writer);

-- people's clicks per calendar month (UTC), for the click quota
CREATE TABLE click_counts (
	organization_id uuid NOT NULL
		CONSTRAINT click_counts_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	month date NOT NULL,
	clicks bigint NOT NULL,
	CONSTRAINT click_counts_pkey PRIMARY KEY (organization_id, month)
);

-- How far each click journal of a process has been drained (docs/internals.md). Moved in the transaction that brings the
-- clicks, so that each of them arrives once. A row for each destination: a transaction that waits for ClickHouse locks its
-- row, and must not hold up the other.
CREATE TABLE click_journals (
	id uuid NOT NULL,
	sink text NOT NULL CONSTRAINT click_journals_sink_check CHECK (sink IN ('postgres', 'clickHouse')),
	-- the number of the file, and the bytes of it that are done
	segment integer NOT NULL,
	position bigint NOT NULL,
	moved_at timestamptz NOT NULL DEFAULT now(),
	CONSTRAINT click_journals_pkey PRIMARY KEY (id, sink)
);

-- migrate:down
DROP TABLE click_journals;
DROP TABLE click_counts;
DROP TABLE clicks;
DROP FUNCTION keep_click_context;
DROP FUNCTION click_context_id;
DROP TABLE click_campaigns;
DROP TABLE click_contexts;
