-- migrate:up
-- Keys are kept in memory with their organizations, so that whatever either says is told (docs/link-cache.md). When a
-- key was used last is not: it is noted every minute.
DROP TRIGGER organizations_updated ON organizations;
CREATE TRIGGER organizations_updated AFTER UPDATE OF
		clerk_org_id, org_key, name, status, plan, entitled_until, contact_email, default_domain_id ON organizations
	FOR EACH ROW EXECUTE FUNCTION tell_changed_organization();
CREATE TRIGGER api_keys_changed AFTER INSERT OR DELETE
		OR UPDATE OF organization_id, tier, prefix, key_hash, is_revoked, expires_at ON api_keys
	FOR EACH ROW EXECUTE FUNCTION tell_changed_organization();

-- migrate:down
DROP TRIGGER api_keys_changed ON api_keys;
DROP TRIGGER organizations_updated ON organizations;
CREATE TRIGGER organizations_updated AFTER UPDATE OF name, status, org_key ON organizations
	FOR EACH ROW EXECUTE FUNCTION tell_changed_organization();
