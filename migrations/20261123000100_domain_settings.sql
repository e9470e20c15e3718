-- migrate:up
-- Old addresses keep working on custom domains: prefixes before the code, the start page, and codes of another service.

ALTER TABLE domains
	-- what stands before a code in old addresses, without slashes at the ends: {promos,links/share}
	ADD COLUMN path_prefixes text[] NOT NULL DEFAULT '{}',
	-- where `/` leads; null: 404
	ADD COLUMN root_url text,
	-- where visitors of unknown codes go on, with {code} for the code; null: 404
	ADD COLUMN unknown_codes_url text;

-- Taps of codes that no link has, by day (UTC). The number of codes of a day is limited (config/storage.json); further
-- ones are counted together under the empty code, which no address has.
CREATE TABLE unknown_codes (
	domain_id uuid NOT NULL CONSTRAINT unknown_codes_domain_id_fkey REFERENCES domains (id) ON DELETE CASCADE,
	organization_id uuid NOT NULL
		CONSTRAINT unknown_codes_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	day date NOT NULL,
	code text NOT NULL,
	visits bigint NOT NULL,
	last_at timestamptz NOT NULL,
	CONSTRAINT unknown_codes_pkey PRIMARY KEY (domain_id, day, code)
);
CREATE INDEX unknown_codes_organization_id_idx ON unknown_codes (organization_id);
-- for the deletion of old days
CREATE INDEX unknown_codes_day_idx ON unknown_codes (day);

-- migrate:down
DROP TABLE unknown_codes;
ALTER TABLE domains DROP COLUMN path_prefixes, DROP COLUMN root_url, DROP COLUMN unknown_codes_url;
