-- migrate:up
-- orgKeys of organizations that were deleted: links with them are printed and in apps, and must never lead to somebody
-- else's. Written with the deletion, whoever deletes.
CREATE TABLE retired_org_keys (
	org_key text CONSTRAINT retired_org_keys_pkey PRIMARY KEY
);
CREATE FUNCTION retire_org_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO retired_org_keys (org_key) VALUES (OLD.org_key) ON CONFLICT DO NOTHING;
	RETURN NULL;
END $$;
CREATE TRIGGER organizations_retire_org_key AFTER DELETE ON organizations
	FOR EACH ROW EXECUTE FUNCTION retire_org_key();
-- No row is inserted, as where another organization has the orgKey: the next one is tried.
CREATE FUNCTION refuse_retired_org_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RETURN CASE WHEN EXISTS (SELECT FROM retired_org_keys WHERE org_key = NEW.org_key) THEN NULL ELSE NEW END;
END $$;
CREATE TRIGGER organizations_refuse_retired_org_key BEFORE INSERT ON organizations
	FOR EACH ROW EXECUTE FUNCTION refuse_retired_org_key();

-- migrate:down
DROP TRIGGER organizations_refuse_retired_org_key ON organizations;
DROP FUNCTION refuse_retired_org_key();
DROP TRIGGER organizations_retire_org_key ON organizations;
DROP FUNCTION retire_org_key();
DROP TABLE retired_org_keys;
