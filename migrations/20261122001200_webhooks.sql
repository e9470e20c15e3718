-- migrate:up
-- What happens goes out: endpoints of an organization's own systems, and deliveries to them (contract/webhooks).

CREATE TABLE webhook_endpoints (
	id uuid CONSTRAINT webhook_endpoints_pkey PRIMARY KEY,
	organization_id uuid NOT NULL
		CONSTRAINT webhook_endpoints_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	url text NOT NULL,
	description text,
	-- types, or `*`
	events text[] NOT NULL,
	-- only what happens to links with one of these; null: all
	tags text[],
	channels text[],
	enabled boolean NOT NULL,
	disabled_reason text,
	-- encrypted where OPLINK_KEY_SECRET is set
	secret text NOT NULL,
	-- signs, too, until a rotation is a day old
	previous_secret text,
	previous_until timestamptz,
	-- the first failure after the last success
	failing_since timestamptz,
	-- its last attempts took at most two seconds each
	quick boolean NOT NULL DEFAULT false,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
CREATE INDEX webhook_endpoints_organization_id_idx ON webhook_endpoints (organization_id);

-- Written in the transaction of its cause. A sender makes deliveries of the rows, and deletes them. No foreign key: links
-- are deleted after their organization.
CREATE TABLE webhook_outbox (
	id uuid CONSTRAINT webhook_outbox_pkey PRIMARY KEY DEFAULT gen_random_uuid(),
	organization_id uuid NOT NULL,
	type text NOT NULL,
	at timestamptz NOT NULL DEFAULT now(),
	-- the row that it is about
	data jsonb NOT NULL
);

-- Clicks, matches and events are stored in batches and by several processes: which transactions of each have become
-- deliveries (pg_snapshot). Moved in the transaction that makes these, so that no row is skipped or sent twice. Empty until
-- the first endpoint.
CREATE TABLE webhook_positions (
	source text CONSTRAINT webhook_positions_pkey PRIMARY KEY
		CONSTRAINT webhook_positions_source_check CHECK (source IN ('clicks', 'matches', 'events')),
	snapshot text,
	-- how far the next deliveries of matches go: their candidates follow the answer, so that they are read a second later
	ahead text,
	moved_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE endpoint_deliveries (
	-- `webhook-id`
	id uuid CONSTRAINT endpoint_deliveries_pkey PRIMARY KEY,
	endpoint_id uuid NOT NULL
		CONSTRAINT endpoint_deliveries_endpoint_id_fkey REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
	organization_id uuid NOT NULL,
	type text NOT NULL,
	-- when it happened
	at timestamptz NOT NULL,
	created_at timestamptz NOT NULL,
	-- what is sent; null: deleted, a week after success or with the data of a person
	body text,
	status text NOT NULL CONSTRAINT endpoint_deliveries_status_check CHECK (status IN ('PENDING', 'DELIVERED', 'FAILED')),
	tries smallint NOT NULL DEFAULT 0,
	-- of a delivery that is being sent: when another process may take it
	next_try_at timestamptz NOT NULL,
	delivered_at timestamptz
);
CREATE INDEX endpoint_deliveries_due_idx ON endpoint_deliveries (endpoint_id, next_try_at) WHERE status = 'PENDING';
CREATE INDEX endpoint_deliveries_endpoint_id_created_at_idx ON endpoint_deliveries (endpoint_id, created_at DESC, id DESC);
CREATE INDEX endpoint_deliveries_created_at_idx ON endpoint_deliveries (created_at);
CREATE INDEX endpoint_deliveries_delivered_at_idx ON endpoint_deliveries (delivered_at) WHERE body IS NOT NULL;
CREATE INDEX endpoint_deliveries_organization_id_idx ON endpoint_deliveries (organization_id) WHERE body IS NOT NULL;

CREATE TABLE delivery_tries (
	delivery_id uuid NOT NULL
		CONSTRAINT delivery_tries_delivery_id_fkey REFERENCES endpoint_deliveries (id) ON DELETE CASCADE,
	at timestamptz NOT NULL,
	-- of the answer; null: none came
	status smallint,
	duration_ms integer NOT NULL,
	error text,
	-- its first KB
	answer text
);
CREATE INDEX delivery_tries_delivery_id_idx ON delivery_tries (delivery_id);

-- Quotas whose use was reported, so that each mark of a quota and month is reported once.
CREATE TABLE quota_marks (
	organization_id uuid NOT NULL
		CONSTRAINT quota_marks_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	quota text NOT NULL,
	percent smallint NOT NULL,
	-- the first day of the month of clicks; of other quotas always the same
	month date NOT NULL,
	CONSTRAINT quota_marks_pkey PRIMARY KEY (organization_id, quota, percent, month)
);

CREATE FUNCTION wants_webhook(organization uuid, wanted text) RETURNS boolean LANGUAGE sql STABLE AS $$
	SELECT EXISTS (SELECT FROM webhook_endpoints
		WHERE organization_id = organization AND enabled AND events && ARRAY['*', wanted])
$$;

-- Every way to write a link comes through here.
CREATE FUNCTION report_changed_links() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		INSERT INTO webhook_outbox (organization_id, type, at, data)
			SELECT organization_id, 'link.created', created_at, to_jsonb(changed) FROM changed
			WHERE wants_webhook(organization_id, 'link.created');
	ELSIF TG_OP = 'DELETE' THEN
		INSERT INTO webhook_outbox (organization_id, type, data)
			SELECT organization_id, 'link.deleted', to_jsonb(gone) FROM gone
			WHERE wants_webhook(organization_id, 'link.deleted');
	ELSE
		INSERT INTO webhook_outbox (organization_id, type, at, data)
			SELECT changed.organization_id, 'link.updated', changed.updated_at, to_jsonb(changed)
			FROM changed JOIN gone USING (id)
			WHERE changed IS DISTINCT FROM gone AND wants_webhook(changed.organization_id, 'link.updated');
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER links_inserted_report AFTER INSERT ON links
	REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION report_changed_links();
CREATE TRIGGER links_updated_report AFTER UPDATE ON links
	REFERENCING NEW TABLE AS changed OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION report_changed_links();
CREATE TRIGGER links_deleted_report AFTER DELETE ON links
	REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION report_changed_links();

CREATE FUNCTION report_changed_domain() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	happened text := CASE WHEN NEW.status = 'VERIFIED' THEN 'domain.verified' ELSE 'domain.lapsed' END;
BEGIN
	IF NEW.organization_id IS NOT NULL AND wants_webhook(NEW.organization_id, happened) THEN
		INSERT INTO webhook_outbox (organization_id, type, at, data) VALUES (NEW.organization_id, happened, NEW.updated_at,
			jsonb_build_object('id', NEW.id, 'hostname', NEW.hostname, 'status', NEW.status));
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER domains_updated_report AFTER UPDATE OF status ON domains
	FOR EACH ROW WHEN (OLD.status <> NEW.status AND 'VERIFIED' IN (OLD.status, NEW.status))
	EXECUTE FUNCTION report_changed_domain();
CREATE TRIGGER domains_inserted_report AFTER INSERT ON domains
	FOR EACH ROW WHEN (NEW.status = 'VERIFIED') EXECUTE FUNCTION report_changed_domain();

-- migrate:down
-- with the triggers that call them
DROP FUNCTION report_changed_domain() CASCADE;
DROP FUNCTION report_changed_links() CASCADE;
DROP FUNCTION wants_webhook;
DROP TABLE quota_marks;
DROP TABLE delivery_tries;
DROP TABLE endpoint_deliveries;
DROP TABLE webhook_positions;
DROP TABLE webhook_outbox;
DROP TABLE webhook_endpoints;
