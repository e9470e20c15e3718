-- migrate:up
-- Who changed what. Changes of one thing by one actor in an hour (UTC) share a record: it names every field that changed,
-- and how often.

CREATE TABLE audit_log (
	id uuid CONSTRAINT audit_log_pkey PRIMARY KEY,
	-- of several changes the last
	at timestamptz NOT NULL,
	-- no foreign key: the record outlives the organization
	organization_id uuid,
	actor_type text NOT NULL,
	actor_id text,
	actor_name text,
	action text NOT NULL,
	entity_type text NOT NULL,
	entity_id text,
	request_id text,
	details jsonb,
	-- what makes two records the same one: a hash of actor, action, entity and hour; null: always a record of its own
	repeat_key uuid,
	count integer NOT NULL DEFAULT 1,
	-- when the first of several was; null: there is one, at `at`
	since timestamptz
);
CREATE UNIQUE INDEX audit_log_repeat_key_key ON audit_log (repeat_key) WHERE repeat_key IS NOT NULL;
CREATE INDEX audit_log_organization_id_at_idx ON audit_log (organization_id, at DESC, id DESC);
-- finds what is older than config/retention.json allows
CREATE INDEX audit_log_at_idx ON audit_log (at);

-- {from, to} of two changes in a row is the first `from` and the last `to`; of anything else the last value is left.
CREATE FUNCTION merge_audit_change(earlier jsonb, later jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN earlier -> 'from' IS NOT NULL AND later -> 'from' IS NOT NULL AND later -> 'to' IS NOT NULL
		THEN later || jsonb_build_object('from', earlier -> 'from') ELSE later END
$$;

-- The details of two changes as those of one: the fields of both, each as the last one left it.
CREATE FUNCTION merge_audit_details(earlier jsonb, later jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE
		WHEN earlier IS NULL OR later IS NULL THEN coalesce(later, earlier)
		WHEN jsonb_typeof(earlier -> 'changes') = 'object' AND jsonb_typeof(later -> 'changes') = 'object' THEN
			earlier || later || jsonb_build_object('changes', (earlier -> 'changes') || coalesce((
				SELECT jsonb_object_agg(key, merge_audit_change(earlier -> 'changes' -> key, value))
				FROM jsonb_each(later -> 'changes')), '{}'))
		ELSE earlier || merge_audit_change(earlier, later)
	END
$$;

-- migrate:down
DROP FUNCTION merge_audit_details(jsonb, jsonb);
DROP FUNCTION merge_audit_change(jsonb, jsonb);
DROP TABLE audit_log;
