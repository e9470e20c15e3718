-- migrate:up
-- Tells every process of the installation what its caches may no longer say, in the transaction of the write: what is
-- rolled back is not told, and what is told arrives in the order of the commits (docs/link-cache.md).

-- A link by its address, in its old form and its new one; many at once as all of their organization's.
CREATE FUNCTION tell_changed_links() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		PERFORM pg_notify('oplink_changes', address) FROM (
			SELECT CASE WHEN count(*) OVER (PARTITION BY organization_id) > 20 THEN 'o:' || org_key
				ELSE 'l:' || org_key || '/' || short_code END AS address
			FROM changed JOIN organizations ON organizations.id = changed.organization_id) AS told GROUP BY address;
	ELSIF TG_OP = 'DELETE' THEN
		PERFORM pg_notify('oplink_changes', address) FROM (
			SELECT CASE WHEN count(*) OVER (PARTITION BY organization_id) > 20 THEN 'o:' || org_key
				ELSE 'l:' || org_key || '/' || short_code END AS address
			FROM gone JOIN organizations ON organizations.id = gone.organization_id) AS told GROUP BY address;
	ELSE
		PERFORM pg_notify('oplink_changes', address) FROM (
			SELECT CASE WHEN count(*) OVER (PARTITION BY organization_id) > 40 THEN 'o:' || org_key
				ELSE 'l:' || org_key || '/' || short_code END AS address
			FROM (SELECT organization_id, short_code FROM changed UNION ALL SELECT organization_id, short_code FROM gone) AS both_forms
			JOIN organizations ON organizations.id = both_forms.organization_id) AS told GROUP BY address;
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER links_inserted AFTER INSERT ON links
	REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tell_changed_links();
CREATE TRIGGER links_updated AFTER UPDATE ON links
	REFERENCING NEW TABLE AS changed OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION tell_changed_links();
CREATE TRIGGER links_deleted AFTER DELETE ON links
	REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION tell_changed_links();

-- What all links of an organization take from it.
CREATE FUNCTION tell_changed_organization() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	row_of record;
	key text;
BEGIN
	row_of := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
	IF TG_TABLE_NAME = 'organizations' THEN
		key := row_of.org_key;
	ELSE
		SELECT org_key INTO key FROM organizations WHERE id = row_of.organization_id;
	END IF;
	PERFORM pg_notify('oplink_changes', 'o:' || key) WHERE key IS NOT NULL;
	RETURN NULL;
END $$;
CREATE TRIGGER organizations_updated AFTER UPDATE OF name, status, org_key ON organizations
	FOR EACH ROW EXECUTE FUNCTION tell_changed_organization();
CREATE TRIGGER organizations_deleted AFTER DELETE ON organizations
	FOR EACH ROW EXECUTE FUNCTION tell_changed_organization();
CREATE TRIGGER app_configs_changed AFTER INSERT OR UPDATE OR DELETE ON app_configs
	FOR EACH ROW EXECUTE FUNCTION tell_changed_organization();
CREATE TRIGGER templates_updated AFTER UPDATE OR DELETE ON templates
	FOR EACH ROW EXECUTE FUNCTION tell_changed_organization();

-- Which host is whose. Domains change rarely, so that all are told at once, with the links that are on them.
CREATE FUNCTION tell_changed_domains() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('oplink_changes', 'd');
	RETURN NULL;
END $$;
CREATE TRIGGER domains_changed AFTER INSERT OR UPDATE OR DELETE ON domains
	FOR EACH STATEMENT EXECUTE FUNCTION tell_changed_domains();

-- migrate:down
DROP TRIGGER domains_changed ON domains;
DROP TRIGGER templates_updated ON templates;
DROP TRIGGER app_configs_changed ON app_configs;
DROP TRIGGER organizations_deleted ON organizations;
DROP TRIGGER organizations_updated ON organizations;
DROP TRIGGER links_deleted ON links;
DROP TRIGGER links_updated ON links;
DROP TRIGGER links_inserted ON links;
DROP FUNCTION tell_changed_domains();
DROP FUNCTION tell_changed_organization();
DROP FUNCTION tell_changed_links();
