-- migrate:up
-- Notifies every process of the installation of what its caches must forget, in the transaction of the write: a write that
-- is rolled back sends nothing, and notifications arrive in the order of the commits (docs/internals.md).

-- A link by its address, in its old form and its new one; many at once as all of their organization's.
CREATE FUNCTION notify_changed_links() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		PERFORM pg_notify('oplink_changes', address) FROM (
			SELECT CASE WHEN count(*) OVER (PARTITION BY organization_id) > 20 THEN 'o:' || org_key
				ELSE 'l:' || org_key || '/' || short_code END AS address
			FROM changed JOIN organizations ON organizations.id = changed.organization_id) AS addresses GROUP BY address;
	ELSIF TG_OP = 'DELETE' THEN
		PERFORM pg_notify('oplink_changes', address) FROM (
			SELECT CASE WHEN count(*) OVER (PARTITION BY organization_id) > 20 THEN 'o:' || org_key
				ELSE 'l:' || org_key || '/' || short_code END AS address
			FROM gone JOIN organizations ON organizations.id = gone.organization_id) AS addresses GROUP BY address;
	ELSE
		PERFORM pg_notify('oplink_changes', address) FROM (
			SELECT CASE WHEN count(*) OVER (PARTITION BY organization_id) > 40 THEN 'o:' || org_key
				ELSE 'l:' || org_key || '/' || short_code END AS address
			FROM (SELECT organization_id, short_code FROM changed UNION ALL SELECT organization_id, short_code FROM gone) AS both_forms
			JOIN organizations ON organizations.id = both_forms.organization_id) AS addresses GROUP BY address;
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER links_inserted AFTER INSERT ON links
	REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION notify_changed_links();
CREATE TRIGGER links_updated AFTER UPDATE ON links
	REFERENCING NEW TABLE AS changed OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION notify_changed_links();
CREATE TRIGGER links_deleted AFTER DELETE ON links
	REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION notify_changed_links();

-- What all links of an organization take from it, and its keys, which are kept in memory together with it. When a key was
-- used last is left out: it is noted every minute. So is a place in the association file, which changes no link.
CREATE FUNCTION notify_changed_organization() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER organizations_updated AFTER UPDATE OF
		clerk_org_id, org_key, name, status, plan, entitled_until, contact_email, default_domain_id ON organizations
	FOR EACH ROW EXECUTE FUNCTION notify_changed_organization();
CREATE TRIGGER organizations_deleted AFTER DELETE ON organizations
	FOR EACH ROW EXECUTE FUNCTION notify_changed_organization();
CREATE TRIGGER api_keys_changed AFTER INSERT OR DELETE
		OR UPDATE OF organization_id, tier, prefix, key_hash, is_revoked, expires_at ON api_keys
	FOR EACH ROW EXECUTE FUNCTION notify_changed_organization();
CREATE TRIGGER app_configs_changed AFTER INSERT OR DELETE OR UPDATE OF ios, android, fallback_url, destinations,
		minimum_version, og_title, og_description, og_image_url, logo_url, error_pages, clipboard_format,
		probabilistic_matching, minimum_confidence ON app_configs
	FOR EACH ROW EXECUTE FUNCTION notify_changed_organization();
CREATE TRIGGER templates_updated AFTER UPDATE OR DELETE ON templates
	FOR EACH ROW EXECUTE FUNCTION notify_changed_organization();

-- Which host is whose. Domains change rarely, so that one notification stands for all of them and the links on them.
CREATE FUNCTION notify_changed_domains() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('oplink_changes', 'd');
	RETURN NULL;
END $$;
CREATE TRIGGER domains_changed AFTER INSERT OR UPDATE OR DELETE ON domains
	FOR EACH STATEMENT EXECUTE FUNCTION notify_changed_domains();

-- What the association files are made of.
CREATE FUNCTION notify_changed_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('oplink_changes', 'f');
	RETURN NULL;
END $$;
CREATE TRIGGER app_configs_made AFTER INSERT OR DELETE ON app_configs
	FOR EACH ROW EXECUTE FUNCTION notify_changed_files();
CREATE TRIGGER app_configs_files_changed AFTER UPDATE OF ios, android, shared_at, browser_paths ON app_configs
	FOR EACH ROW WHEN (
		OLD.ios IS DISTINCT FROM NEW.ios OR OLD.android IS DISTINCT FROM NEW.android
		OR OLD.shared_at IS DISTINCT FROM NEW.shared_at OR OLD.browser_paths IS DISTINCT FROM NEW.browser_paths
	) EXECUTE FUNCTION notify_changed_files();
CREATE TRIGGER organizations_files_changed AFTER UPDATE OF status, plan, org_key ON organizations
	FOR EACH ROW WHEN (
		OLD.status IS DISTINCT FROM NEW.status OR OLD.plan IS DISTINCT FROM NEW.plan
		OR OLD.org_key IS DISTINCT FROM NEW.org_key
	) EXECUTE FUNCTION notify_changed_files();

-- migrate:down
-- with the triggers that call them
DROP FUNCTION notify_changed_files() CASCADE;
DROP FUNCTION notify_changed_domains() CASCADE;
DROP FUNCTION notify_changed_organization() CASCADE;
DROP FUNCTION notify_changed_links() CASCADE;
