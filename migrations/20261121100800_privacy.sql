-- migrate:up
-- an event stays, for it is counted, when what tells of its device is erased
ALTER TABLE events ALTER COLUMN device_id DROP NOT NULL;
-- what is stored of a device or of a user is found by these, however much there is of others
CREATE INDEX events_organization_id_device_id_idx ON events (organization_id, device_id);
CREATE INDEX match_attempts_device_id_idx ON match_attempts (device_id) WHERE device_id IS NOT NULL;
CREATE INDEX devices_organization_id_external_user_id_idx ON devices (organization_id, external_user_id)
	WHERE external_user_id IS NOT NULL;

-- migrate:down
DROP INDEX devices_organization_id_external_user_id_idx;
DROP INDEX match_attempts_device_id_idx;
DROP INDEX events_organization_id_device_id_idx;
UPDATE events SET device_id = 'erased' WHERE device_id IS NULL;
ALTER TABLE events ALTER COLUMN device_id SET NOT NULL;
