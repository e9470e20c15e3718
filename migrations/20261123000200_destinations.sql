-- migrate:up
-- Where people without the app go, by platform, and the least version of the app that a link needs. Only what is set is
-- stored, and null where that is nothing: {ios, ipad, android, desktop} and {ios, android}.
ALTER TABLE links ADD COLUMN destinations jsonb, ADD COLUMN minimum_version jsonb;
ALTER TABLE templates ADD COLUMN destinations jsonb, ADD COLUMN minimum_version jsonb;
ALTER TABLE app_configs ADD COLUMN destinations jsonb, ADD COLUMN minimum_version jsonb;
CREATE TRIGGER app_configs_destinations_changed AFTER UPDATE OF destinations, minimum_version ON app_configs
	FOR EACH ROW EXECUTE FUNCTION notify_changed_organization();

-- migrate:down
DROP TRIGGER app_configs_destinations_changed ON app_configs;
ALTER TABLE app_configs DROP COLUMN destinations, DROP COLUMN minimum_version;
ALTER TABLE templates DROP COLUMN destinations, DROP COLUMN minimum_version;
ALTER TABLE links DROP COLUMN destinations, DROP COLUMN minimum_version;
