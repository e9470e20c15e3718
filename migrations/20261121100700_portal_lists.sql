-- migrate:up
-- the portal's list of devices, by what never changes: an index by last_seen_at would cost every session a write
CREATE INDEX devices_organization_id_first_seen_at_idx ON devices (organization_id, first_seen_at DESC, id DESC);

-- migrate:down
DROP INDEX devices_organization_id_first_seen_at_idx;
