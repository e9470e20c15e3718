import {OplinkApiError} from '../../client/errors.ts';
import type {LinkSurface} from '../server/link-surface.ts';
import {allAt} from '../server/list-pages.ts';
import type {Fitting, OwnApps, PrefixNeeds} from './formats/fit-row.ts';

/** The known data of the organization that receives the rows. */
export type ImportTarget = Pick<Fitting, 'apps' | 'domains' | 'channels'> & {prefixes: PrefixNeeds};

/** An organization without known data, for which no row is checked. */
export const unknownTarget: ImportTarget = {
	apps: null,
	domains: new Map(),
	prefixes: new Map(),
	channels: null,
};

const absentAs404 = (error: unknown): null => {
	if (error instanceof OplinkApiError && error.status === 404) {
		return null;
	}

	throw error;
};

type Domain = {id: string; hostname: string; status: string; pathPrefixes?: string[]};

/**
 * Reads the organization's apps, domains and channels through the admin API. Without an app configuration nothing is
 * checked here, and the server rejects the rows itself.
 */
export const readImportTarget = async ({client, base}: LinkSurface): Promise<ImportTarget> => {
	const organization = base.replace(/\/links$/, '');
	const [apps, domains, channels] = await Promise.all([
		client.get<OwnApps>(`${organization}/app-config`).catch(absentAs404),
		allAt<Domain>(client, `${organization}/domains`),
		allAt<{id: string; name: string}>(client, `${organization}/channels`),
	]);
	const usable = domains.filter(({status}) => status === 'VERIFIED');
	return {
		apps,
		prefixes: new Map(
			usable.map(({hostname, pathPrefixes = []}) => [hostname.toLowerCase(), {has: pathPrefixes, needs: new Set()}]),
		),
		domains: new Map(usable.map(({id, hostname}) => [hostname.toLowerCase(), id])),
		channels: new Set(channels.map(({name}) => name)),
	};
};
