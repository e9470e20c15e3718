-- migrate:up
-- Paths of custom domains that stay in the browser, as association files compare them; null if there are none.
ALTER TABLE app_configs ADD COLUMN browser_paths text[];
CREATE TRIGGER app_configs_browser_paths_changed AFTER UPDATE OF browser_paths ON app_configs
	FOR EACH ROW WHEN (OLD.browser_paths IS DISTINCT FROM NEW.browser_paths) EXECUTE FUNCTION notify_changed_files();

-- migrate:down
DROP TRIGGER app_configs_browser_paths_changed ON app_configs;
ALTER TABLE app_configs DROP COLUMN browser_paths;
