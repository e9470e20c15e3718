-- migrate:up
-- How often people and apps visit links at each alias of the shared link domain (LINK_DOMAIN_ALIASES), by day (UTC).
CREATE TABLE alias_visits (
	hostname text NOT NULL,
	day date NOT NULL,
	visits bigint NOT NULL,
	last_at timestamptz NOT NULL,
	CONSTRAINT alias_visits_pkey PRIMARY KEY (hostname, day)
);

-- migrate:down
DROP TABLE alias_visits;
