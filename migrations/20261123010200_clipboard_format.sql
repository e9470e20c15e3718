-- migrate:up
-- What pages copy: the token, or the short URL with the token as its fragment; null: nobody has chosen, so the token.
ALTER TABLE app_configs ADD COLUMN clipboard_format text
	CONSTRAINT app_configs_clipboard_format_check CHECK (clipboard_format IN ('token', 'url'));
CREATE TRIGGER app_configs_clipboard_format_changed AFTER UPDATE OF clipboard_format ON app_configs
	FOR EACH ROW WHEN (OLD.clipboard_format IS DISTINCT FROM NEW.clipboard_format)
	EXECUTE FUNCTION notify_changed_organization();

-- migrate:down
DROP TRIGGER app_configs_clipboard_format_changed ON app_configs;
ALTER TABLE app_configs DROP COLUMN clipboard_format;
