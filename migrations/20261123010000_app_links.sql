-- migrate:up
-- Links that apps create by the CLIENT key.

-- what apps may set of the template's links: {fields, pathPrefix?}; null: apps create none
ALTER TABLE templates ADD COLUMN client_create jsonb;

-- Which link a device has for a content. A device that asks again gets the same link.
CREATE TABLE app_links (
	organization_id uuid NOT NULL
		CONSTRAINT app_links_organization_id_fkey REFERENCES organizations (id) ON DELETE CASCADE,
	device_id text NOT NULL,
	-- SHA-256 of the template's id and the fields
	content bytea NOT NULL,
	-- deferred, so that the content is reserved before the link is made: of parallel creates one makes it
	link_id uuid NOT NULL CONSTRAINT app_links_link_id_fkey REFERENCES links (id) ON DELETE CASCADE
		DEFERRABLE INITIALLY DEFERRED,
	CONSTRAINT app_links_pkey PRIMARY KEY (organization_id, device_id, content),
	CONSTRAINT app_links_link_id_key UNIQUE (link_id)
);

-- migrate:down
DROP TABLE app_links;
ALTER TABLE templates DROP COLUMN client_create;
