-- migrate:up
-- What PostgreSQL keeps of clicks whose rows are in ClickHouse (docs/operating/scaling.md). Empty without CLICKS_URL.

-- Clicks that the rollups do not hold yet, added up. Whoever rolls them up deletes them, so that a row lives for a minute
-- and needs no index. Negative where a page's signals changed what was counted.
CREATE TABLE click_tallies (
	organization_id uuid NOT NULL,
	link_id uuid NOT NULL,
	-- the quarter of an hour
	start timestamptz NOT NULL,
	clicks integer NOT NULL,
	is_person boolean NOT NULL,
	platform text,
	country text,
	os text,
	browser text,
	language text,
	device_model text,
	host text,
	channel text,
	utm_source text,
	utm_medium text,
	utm_campaign text,
	utm_content text,
	utm_term text,
	referrer_host text
);

-- The batches that ClickHouse has stored lately, by the transaction that moved the journal: the order of the live stream.
CREATE TABLE click_batches (
	id uuid NOT NULL,
	-- of its clicks
	oldest timestamptz NOT NULL,
	writer xid8 NOT NULL DEFAULT pg_current_xact_id(),
	stored_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX click_batches_writer_idx ON click_batches (writer);

-- What has to be changed in ClickHouse. Every reader applies it first.
CREATE TABLE click_changes (
	id uuid CONSTRAINT click_changes_pkey PRIMARY KEY DEFAULT gen_random_uuid(),
	kind text NOT NULL CONSTRAINT click_changes_kind_check CHECK (kind IN ('signals', 'forget', 'organization')),
	organization_id uuid NOT NULL,
	-- the click; null: all of the organization
	link_id uuid,
	click_id uuid,
	clicked_at timestamptz,
	-- what the page's signals say; null: nothing
	timezone text,
	platform text,
	made_at timestamptz NOT NULL DEFAULT now(),
	-- of an organization, whose clicks are deleted once more an hour later
	applied_at timestamptz
);

-- migrate:down
DROP TABLE click_changes;
DROP TABLE click_batches;
DROP TABLE click_tallies;
