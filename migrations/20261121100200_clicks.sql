-- migrate:up
-- One partition a month, made by the server before the first click of that month. No foreign keys: clicks outlive
-- their link in the figures, and a check per row would cost the redirect page.
CREATE TABLE clicks (
	id uuid NOT NULL,
	occurred_at timestamptz NOT NULL,
	organization_id uuid NOT NULL,
	link_id uuid NOT NULL,
	channel text,
	platform text,
	os text,
	os_version text,
	browser text,
	device_model text,
	language text,
	timezone text,
	referrer_host text,
	country text,
	-- what kind of crawler it was; null: a person's click
	bot_class text,
	CONSTRAINT clicks_pkey PRIMARY KEY (id, occurred_at)
) PARTITION BY RANGE (occurred_at);
CREATE INDEX clicks_organization_id_occurred_at_idx ON clicks (organization_id, occurred_at);
CREATE INDEX clicks_link_id_occurred_at_idx ON clicks (link_id, occurred_at);

-- people's clicks per calendar month (UTC): what the click quota reads
CREATE TABLE click_counts (
	organization_id uuid NOT NULL
		CONSTRAINT click_counts_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	month date NOT NULL,
	clicks bigint NOT NULL,
	CONSTRAINT click_counts_pkey PRIMARY KEY (organization_id, month)
);

-- migrate:down
DROP TABLE click_counts;
DROP TABLE clicks;
