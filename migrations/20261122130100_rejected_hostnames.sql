-- migrate:up
-- Names that the operator rejected, for every organization, until he approves one: a domain that is removed and added again
-- is rejected again (docs/custom-domains.md).
CREATE TABLE rejected_hostnames (
	hostname text CONSTRAINT rejected_hostnames_pkey PRIMARY KEY,
	rejected_at timestamptz NOT NULL
);

-- migrate:down
DROP TABLE rejected_hostnames;
