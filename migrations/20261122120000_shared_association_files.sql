-- migrate:up
-- since when the iOS app is in the association file of the shared link domain; null: it is not. The file has an end, so
-- that a place in it is taken (src/app-config/shared-apps.ts).
ALTER TABLE app_configs ADD COLUMN shared_at timestamptz;
CREATE INDEX app_configs_shared_at_idx ON app_configs (shared_at) WHERE shared_at IS NOT NULL;

-- A place in the file changes no link of the organization.
DROP TRIGGER app_configs_changed ON app_configs;
CREATE TRIGGER app_configs_changed AFTER INSERT OR DELETE OR UPDATE OF ios, android, fallback_url, og_title,
	og_description, og_image_url, probabilistic_matching, minimum_confidence ON app_configs
	FOR EACH ROW EXECUTE FUNCTION tell_changed_organization();

-- What the association files are made of.
CREATE FUNCTION tell_changed_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('oplink_changes', 'f');
	RETURN NULL;
END $$;
CREATE TRIGGER app_configs_made AFTER INSERT OR DELETE ON app_configs
	FOR EACH ROW EXECUTE FUNCTION tell_changed_files();
CREATE TRIGGER app_configs_files_changed AFTER UPDATE OF ios, android, shared_at ON app_configs
	FOR EACH ROW WHEN (
		OLD.ios IS DISTINCT FROM NEW.ios OR OLD.android IS DISTINCT FROM NEW.android
		OR OLD.shared_at IS DISTINCT FROM NEW.shared_at
	) EXECUTE FUNCTION tell_changed_files();
CREATE TRIGGER organizations_files_changed AFTER UPDATE OF status, plan, org_key ON organizations
	FOR EACH ROW WHEN (
		OLD.status IS DISTINCT FROM NEW.status OR OLD.plan IS DISTINCT FROM NEW.plan
		OR OLD.org_key IS DISTINCT FROM NEW.org_key
	) EXECUTE FUNCTION tell_changed_files();

-- migrate:down
DROP TRIGGER organizations_files_changed ON organizations;
DROP TRIGGER app_configs_files_changed ON app_configs;
DROP TRIGGER app_configs_made ON app_configs;
DROP FUNCTION tell_changed_files();
DROP TRIGGER app_configs_changed ON app_configs;
CREATE TRIGGER app_configs_changed AFTER INSERT OR UPDATE OR DELETE ON app_configs
	FOR EACH ROW EXECUTE FUNCTION tell_changed_organization();
ALTER TABLE app_configs DROP COLUMN shared_at;
