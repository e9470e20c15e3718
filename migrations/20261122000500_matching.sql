-- migrate:up
-- Which click led to an app's first open.

-- Secrets of the keyed hashes of addresses and devices, one per week. Only the last two are kept: without its secret
-- nothing leads back from a hash.
CREATE TABLE match_peppers (
	-- whole weeks since 1970
	week integer CONSTRAINT match_peppers_pkey PRIMARY KEY,
	secret bytea NOT NULL
);

-- Clicks that an app's first open may still claim, and those that were claimed. Hashes are cut to 128 bits, which are
-- enough to avoid collisions.
CREATE TABLE match_clicks (
	-- the token that the page carries names it, so that tokens need no index
	id uuid CONSTRAINT match_clicks_pkey PRIMARY KEY,
	-- the row of `clicks`, whose time is created_at
	click_id uuid NOT NULL,
	organization_id uuid NOT NULL,
	-- no foreign key, which would look the link up for each row: links_deleted_with_matches
	link_id uuid NOT NULL,
	-- keyed hashes of the address and of its network
	ip_key bytea,
	net_key bytea,
	platform text CONSTRAINT match_clicks_platform_check CHECK (platform IN ('ios', 'android', 'desktop')),
	os_major integer,
	os_minor integer,
	os_patch integer,
	-- the last part of the version that can be believed
	os_precision text CONSTRAINT match_clicks_os_precision_check CHECK (os_precision IN ('patch', 'minor', 'major')),
	-- as the browser sent them; they are normalized where they are compared
	device_model text,
	language text,
	timezone text,
	-- of two clicks of one browser, a different language shows two people
	browser text,
	-- the time of the visitor's cookie, as in the id of the click that set it, and its SHA-256
	visitor bytea,
	-- of the visited URL: `params` take from it what the link does not set. json and not jsonb, which has another order
	query json,
	-- when the page's own signals came in
	signals_at timestamptz,
	created_at timestamptz NOT NULL,
	-- the end of the link's match window
	expires_at timestamptz NOT NULL,
	consumed_at timestamptz,
	-- keyed hash of the device; null where the click was closed together with another one of the same visitor
	consumed_by bytea,
	consumed_method text,
	consumed_confidence text,
	consumed_score integer,
	-- whether everything that describes the person has been removed
	forgotten boolean NOT NULL DEFAULT false,
	-- whether the browser sent the cookie
	is_returning boolean NOT NULL DEFAULT false,
	-- of the click: its row of click_campaigns, and its country
	campaign_id bigint,
	country text
);
-- An address belongs to one network, so that one index serves both. The organization is in the index so that a search for
-- one tenant reads no rows of the others.
CREATE INDEX match_clicks_place_open_idx ON match_clicks (net_key, ip_key, created_at DESC, organization_id)
	WHERE consumed_at IS NULL AND net_key IS NOT NULL;
CREATE INDEX match_clicks_ip_consumed_idx ON match_clicks (ip_key, consumed_at DESC, organization_id)
	WHERE consumed_at IS NOT NULL AND ip_key IS NOT NULL;
CREATE INDEX match_clicks_consumer_idx ON match_clicks (consumed_by, consumed_at DESC) WHERE consumed_by IS NOT NULL;
-- Finds the visitor's latest click without reading the others. The click that set the cookie is found by its id.
CREATE INDEX match_clicks_visitor_idx ON match_clicks (visitor, created_at DESC) WHERE is_returning AND visitor IS NOT NULL;
-- finds what is to be forgotten
CREATE INDEX match_clicks_consumed_at_idx ON match_clicks (forgotten, consumed_at) WHERE consumed_at IS NOT NULL;
CREATE INDEX match_clicks_expires_at_idx ON match_clicks (expires_at) WHERE NOT forgotten;
CREATE INDEX match_clicks_forgotten_idx ON match_clicks (expires_at) WHERE forgotten;

-- Matches of a link go with it. They are found by its clicks, as far back as any match is kept: 30 days of a window and
-- 30 after it. Where clicks are in ClickHouse, match_clicks has an index on its links instead.
CREATE FUNCTION delete_matches_of_links() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	oldest timestamptz;
BEGIN
	IF to_regclass('match_clicks_link_id_idx') IS NOT NULL THEN
		DELETE FROM match_clicks WHERE link_id = ANY (ARRAY(SELECT id FROM gone));
		RETURN NULL;
	END IF;
	oldest := least(
		(SELECT min(expires_at) FROM match_clicks WHERE forgotten),
		(SELECT min(expires_at) FROM match_clicks WHERE NOT forgotten)
	) - interval '720 hours';
	DELETE FROM match_clicks WHERE id = ANY (ARRAY(
		SELECT id FROM clicks WHERE link_id = ANY (ARRAY(SELECT id FROM gone)) AND occurred_at >= oldest
			AND date_bin('1 day', occurred_at, '2000-01-01T00:00:00Z') >= date_bin('1 day', oldest, '2000-01-01T00:00:00Z')
	)) AND link_id = ANY (ARRAY(SELECT id FROM gone));
	RETURN NULL;
END $$;
CREATE TRIGGER links_deleted_with_matches AFTER DELETE ON links
	REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION delete_matches_of_links();

-- every request for a match and why it ended as it did; without tokens and addresses
CREATE TABLE match_attempts (
	id uuid CONSTRAINT match_attempts_pkey PRIMARY KEY,
	at timestamptz NOT NULL,
	-- null: a miss that belongs to nobody
	organization_id uuid CONSTRAINT match_attempts_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	device_id text,
	matched boolean NOT NULL,
	method text NOT NULL,
	confidence text,
	score integer,
	link_id uuid,
	-- the row of match_clicks that was matched; its query is read there, so that it is cleared in one place
	click_id uuid,
	reason text,
	-- json and not jsonb, which would answer with its fields in another order
	signals json NOT NULL,
	candidates json NOT NULL,
	-- the probability that nobody's click led to the open, and how many had clicked there
	nobody json,
	-- of a match by token: what a guess would have answered, to measure how good guesses are
	silent_guess json,
	-- whether the request had a text that begins as a token does, and the platform that its User-Agent named
	has_token boolean NOT NULL DEFAULT false,
	agent_platform text,
	-- of a match: channel, UTM values and country of its click, which funnels count by, whatever becomes of click and link
	attribution jsonb,
	-- the transaction that wrote the row: the rollups know by it which rows they hold
	writer xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX match_attempts_organization_id_at_idx ON match_attempts (organization_id, at DESC, id DESC);
-- the figures of one link are counted from its own rows, as those of its clicks are
CREATE INDEX match_attempts_link_id_at_idx ON match_attempts (link_id, at) WHERE matched;
CREATE INDEX match_attempts_device_id_idx ON match_attempts (device_id) WHERE device_id IS NOT NULL;
-- finds what is still to be forgotten, by its age: misses, and matches that describe their device
CREATE INDEX match_attempts_at_idx ON match_attempts (at) WHERE NOT matched OR click_id IS NOT NULL;
CREATE INDEX match_attempts_unowned_idx ON match_attempts (at) WHERE NOT matched AND organization_id IS NULL;
CREATE INDEX match_attempts_writer_idx ON match_attempts (writer);

-- Phones of an organization's recent first opens: the commoner a phone, the less a likeness says. 300 at most, of which a
-- new one replaces any; nothing leads to a device, an address or a time of day.
CREATE TABLE counted_phones (
	organization_id uuid NOT NULL CONSTRAINT counted_phones_organization_id_fkey
		REFERENCES organizations (id) ON DELETE CASCADE,
	slot smallint NOT NULL,
	day date NOT NULL,
	platform text NOT NULL CONSTRAINT counted_phones_platform_check CHECK (platform IN ('iOS', 'Android')),
	-- as the app sent them; they are normalized where they are compared
	os_version text,
	device_model text,
	language text,
	timezone text,
	-- how its first open matched: the more came by token, the less one without a token came from a tap
	matched text CONSTRAINT counted_phones_matched_check CHECK (matched IN ('token', 'guess')),
	-- whether another person's click was at its place (0 or 1), and the share of those clicks with an equal phone, less what
	-- chance gives: families and firms buy the same phones
	neighbours smallint NOT NULL DEFAULT 0,
	equal_neighbours real NOT NULL DEFAULT 0,
	CONSTRAINT counted_phones_pkey PRIMARY KEY (organization_id, slot)
);
CREATE INDEX counted_phones_day_idx ON counted_phones (day);

-- Where a token proved the link: how many guesses were made beside it, and how many chose the same link.
CREATE TABLE guess_grades (
	organization_id uuid NOT NULL CONSTRAINT guess_grades_organization_id_fkey
		REFERENCES organizations (id) ON DELETE CASCADE,
	day date NOT NULL,
	confidence text NOT NULL CONSTRAINT guess_grades_confidence_check CHECK (confidence IN ('high', 'medium', 'low')),
	graded integer NOT NULL,
	correct integer NOT NULL,
	CONSTRAINT guess_grades_pkey PRIMARY KEY (organization_id, day, confidence)
);

-- migrate:down
DROP TABLE guess_grades;
DROP TABLE counted_phones;
DROP TABLE match_attempts;
DROP TRIGGER links_deleted_with_matches ON links;
DROP FUNCTION delete_matches_of_links();
DROP TABLE match_clicks;
DROP TABLE match_peppers;
