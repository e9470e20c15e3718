import {APPLE_LIMIT_BYTES, APPLE_WARNING_BYTES} from '../../links/app-config/association-files.ts';
import {counted} from '../../platform/plural.ts';
import type {Services} from '../../services.ts';
import {type Finding, findingsOf} from './finding.ts';

const {ok, warn} = findingsOf('Association files');

const NEXT =
	'Have organizations with a plan that has custom_domains add a domain of their own; then remove their apps from the shared domain';

/** Free room in the shared link domain's iOS file, which Apple reads up to a limit. */
export const checkAssociationRoom = async ({
	associationCache,
}: Pick<Services, 'associationCache'>): Promise<Finding[]> => {
	await associationCache.shared();
	const {apps, waiting, appleBytes} = associationCache.figures();
	const used = `${appleBytes.toLocaleString('en')} of ${counted(APPLE_LIMIT_BYTES, 'byte')} with ${counted(apps, 'iOS app')}`;
	if (waiting > 0) {
		return [warn('association.room', `${used}; no room is left for ${counted(waiting, 'organization')}`, NEXT)];
	}

	return appleBytes >= APPLE_WARNING_BYTES
		? [warn('association.room', `${used}: more organizations will be refused when it is full`, NEXT)]
		: [ok('association.room', used)];
};
