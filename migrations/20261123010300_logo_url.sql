-- migrate:up
-- The picture beside the organization's name on its pages, in the place of an initial.
ALTER TABLE app_configs ADD COLUMN logo_url text;
CREATE TRIGGER app_configs_logo_url_changed AFTER UPDATE OF logo_url ON app_configs
	FOR EACH ROW WHEN (OLD.logo_url IS DISTINCT FROM NEW.logo_url)
	EXECUTE FUNCTION notify_changed_organization();

-- migrate:down
DROP TRIGGER app_configs_logo_url_changed ON app_configs;
ALTER TABLE app_configs DROP COLUMN logo_url;
