import {type FieldFault, unknownChannel} from '../../platform/errors.ts';
import {fieldsOf} from '../../platform/http/untrusted-json.ts';
import type {Services} from '../../services.ts';
import {channelExists} from '../channels/channel-store.ts';
import {pathRequired} from './link-references.ts';

/** A body with faults, which its schema found. */
type Faulty = {
	services: Pick<Services, 'db'>;
	organization: {id: string};
	body: unknown;
	faults: readonly FieldFault[];
};

const isGood = (faults: readonly FieldFault[], name: string): boolean => !faults.some(({field}) => field === name);

/** Faults of a body that only the database shows, reported with those of its schema: the channel. */
export const databaseFaults = async ({services, organization, body, faults}: Faulty): Promise<FieldFault[]> => {
	const {channel} = fieldsOf(body);
	return typeof channel !== 'string' ||
		!isGood(faults, 'channel') ||
		(await channelExists(services.db, organization.id, channel))
		? []
		: (unknownChannel(channel).details ?? []);
};

/** As `databaseFaults`, for a new link, whose template may lack a path, too. */
export const databaseFaultsOfNew = async (given: Faulty): Promise<FieldFault[]> => {
	const {services, organization, body, faults} = given;
	const {path, templateId: id} = fieldsOf(body);
	const template =
		path == null && typeof id === 'string' && isGood(faults, 'templateId')
			? await services.db('templates').where({organization_id: organization.id, id}).first('path')
			: undefined;
	return [...(await databaseFaults(given)), ...(template?.path === null ? [pathRequired] : [])];
};
