-- migrate:up
-- A deletion that is under way is waited for: until it has ended the orgKey is neither retired nor free. What follows the
-- wait is a statement of its own, which sees what the deletion has written.
CREATE OR REPLACE FUNCTION refuse_retired_org_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM organizations WHERE org_key = NEW.org_key FOR KEY SHARE;
	RETURN CASE WHEN EXISTS (SELECT FROM retired_org_keys WHERE org_key = NEW.org_key) THEN NULL ELSE NEW END;
END $$;

-- migrate:down
CREATE OR REPLACE FUNCTION refuse_retired_org_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RETURN CASE WHEN EXISTS (SELECT FROM retired_org_keys WHERE org_key = NEW.org_key) THEN NULL ELSE NEW END;
END $$;
