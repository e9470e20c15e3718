-- migrate:up
-- What an open match costs: four entries of indexes, where it had six and longer ones.

-- A match has the id of its click, which its token tells: no index of tokens. Matches of earlier versions are found by
-- their token's hash as long as they are open; new ones have none.
UPDATE match_clicks SET id = click_id WHERE id <> click_id;
ALTER TABLE match_clicks ALTER COLUMN token_hash DROP NOT NULL;
ALTER TABLE match_clicks DROP CONSTRAINT match_clicks_token_hash_key;
CREATE UNIQUE INDEX match_clicks_earlier_token_idx ON match_clicks (token_hash) WHERE token_hash IS NOT NULL;

-- An address belongs to one network, so that one index serves both; the organization is in it as before.
DROP INDEX match_clicks_ip_open_idx;
DROP INDEX match_clicks_net_open_idx;
CREATE INDEX match_clicks_place_open_idx ON match_clicks (net_key, ip_key, created_at DESC, organization_id)
	WHERE consumed_at IS NULL AND net_key IS NOT NULL;
DROP INDEX match_clicks_ip_consumed_idx;
CREATE INDEX match_clicks_ip_consumed_idx ON match_clicks (ip_key, consumed_at DESC, organization_id)
	WHERE consumed_at IS NOT NULL AND ip_key IS NOT NULL;

-- What was matched at a time is found by that, also when it is forgotten: the data of a device asks for it.
DROP INDEX match_clicks_consumed_at_idx;
CREATE INDEX match_clicks_consumed_at_idx ON match_clicks (forgotten, consumed_at) WHERE consumed_at IS NOT NULL;

DROP INDEX match_clicks_link_id_visitor_idx;
CREATE INDEX match_clicks_visitor_idx ON match_clicks (visitor) WHERE visitor IS NOT NULL;

-- Matches of a link are found by its clicks, as far back as any match is kept: 30 days of a window and 30 after it.
CREATE OR REPLACE FUNCTION delete_matches_of_links() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	oldest timestamptz := least(
		(SELECT min(expires_at) FROM match_clicks WHERE forgotten),
		(SELECT min(expires_at) FROM match_clicks WHERE NOT forgotten)
	) - interval '720 hours';
BEGIN
	DELETE FROM match_clicks WHERE id = ANY (ARRAY(
		SELECT id FROM clicks WHERE link_id = ANY (ARRAY(SELECT id FROM gone)) AND occurred_at >= oldest
			AND date_bin('1 day', occurred_at, '2000-01-01T00:00:00Z') >= date_bin('1 day', oldest, '2000-01-01T00:00:00Z')
	)) AND link_id = ANY (ARRAY(SELECT id FROM gone));
	RETURN NULL;
END $$;

-- migrate:down
-- The version before finds a match whose token has no hash only by what its phone is like.
CREATE OR REPLACE FUNCTION delete_matches_of_links() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM match_clicks WHERE link_id = ANY (ARRAY(SELECT id FROM gone));
	RETURN NULL;
END $$;
DROP INDEX match_clicks_visitor_idx;
CREATE INDEX match_clicks_link_id_visitor_idx ON match_clicks (link_id, visitor);
DROP INDEX match_clicks_consumed_at_idx;
CREATE INDEX match_clicks_consumed_at_idx ON match_clicks (consumed_at) WHERE NOT forgotten AND consumed_at IS NOT NULL;
DROP INDEX match_clicks_ip_consumed_idx;
CREATE INDEX match_clicks_ip_consumed_idx ON match_clicks (ip_key, consumed_at DESC, organization_id)
	WHERE consumed_at IS NOT NULL;
DROP INDEX match_clicks_place_open_idx;
CREATE INDEX match_clicks_net_open_idx ON match_clicks (net_key, created_at DESC, organization_id)
	WHERE consumed_at IS NULL;
CREATE INDEX match_clicks_ip_open_idx ON match_clicks (ip_key, created_at DESC, organization_id)
	WHERE consumed_at IS NULL;
DROP INDEX match_clicks_earlier_token_idx;
UPDATE match_clicks SET token_hash = uuid_send(id) WHERE token_hash IS NULL;
ALTER TABLE match_clicks ADD CONSTRAINT match_clicks_token_hash_key UNIQUE (token_hash);
ALTER TABLE match_clicks ALTER COLUMN token_hash SET NOT NULL;
