-- migrate:up
-- Whether people get a page instead of JSON where a link does not exist or is gone.
ALTER TABLE app_configs ADD COLUMN error_pages boolean NOT NULL DEFAULT false;
CREATE TRIGGER app_configs_error_pages_changed AFTER UPDATE OF error_pages ON app_configs
	FOR EACH ROW EXECUTE FUNCTION notify_changed_organization();

-- migrate:down
DROP TRIGGER app_configs_error_pages_changed ON app_configs;
ALTER TABLE app_configs DROP COLUMN error_pages;
