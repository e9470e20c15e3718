import type {AppConfig} from '../../links/app-config/app-config.ts';
import type {Finding} from '../../operations/finding.ts';
import {notFoundError} from '../cli-errors.ts';
import {type ApiClient, nullOn} from '../server/admin-client.ts';
import {isLoopback} from '../server/left-in-data-dir.ts';
import {organizationPath} from '../server/link-surface.ts';
import {allAt} from '../server/list-pages.ts';

/** A host of an organization's links, without its port. On the shared domain, its links are below its orgKey. */
export type Host = {name: string; isShared: boolean; isPublic: boolean; isAlias?: true};

/** The apps of an organization on the server, and the hosts of its links. */
export type ExpectedApp = Pick<AppConfig, 'ios' | 'android'> & {
	orgKey: string;
	hosts: Host[];
	/** The names of all its hosts, including those that are not compared: for a wildcard, systems read the file of one of them. */
	served: readonly string[];
};

type Domain = {hostname: string; status: string; verification: object | null};

/** Systems verify hosts only over https on port 443. */
const hostOf = ({hostname, verification}: Domain): Host => {
	const name = hostname.toLowerCase().replace(/:\d+$/, '');
	const isPublic = name === hostname.toLowerCase() && !isLoopback(`https://${name}`) && name.includes('.');
	return {name, isShared: verification === null, isPublic};
};

/** The aliases of the shared domain; none for a token that may not read them. */
const readAliases = async (client: ApiClient): Promise<Host[]> => {
	const aliases = await nullOn(client.get<{data: Array<{hostname: string}>}>('/admin/domains/aliases'), 403, 404);
	return (aliases?.data ?? []).map(({hostname}) => ({name: hostname, isShared: true, isPublic: true, isAlias: true}));
};

/** The findings of a host. Those of an alias are only warnings, because links on the other hosts open the app without it. */
export const findingsOfHost = ({isAlias}: Host, findings: Finding[]): Finding[] =>
	isAlias ? findings.map((one) => (one.status === 'fail' ? {...one, status: 'warn'} : one)) : findings;

/** Reads the organization's app configuration and its link hosts. @throws OplinkApiError, 404 without a configuration. */
export const readExpectedApp = async (client: ApiClient, org: string): Promise<ExpectedApp> => {
	const path = organizationPath(org);
	const {orgKey} = await client.get<{orgKey: string}>(path);
	const {ios, android} = await client.get<AppConfig>(`${path}/app-config`);
	const domains = await allAt<Domain>(client, `${path}/domains`);
	const own = domains.filter(({status}) => status === 'VERIFIED').map(hostOf);
	const hosts = [...own, ...(await readAliases(client))];
	return {orgKey, hosts, served: hosts.map(({name}) => name), ios, android};
};

/** The app with the named hosts alone. @throws OperatorError for a host that the organization does not have. */
export const withHosts = (app: ExpectedApp, names: readonly string[] | undefined): ExpectedApp => {
	const wanted = names?.map((name) => name.toLowerCase());
	const unknown = wanted?.find((name) => !app.hosts.some((host) => host.name === name));
	if (unknown !== undefined) {
		throw notFoundError(
			`Organization ${app.orgKey} has no verified host '${unknown}'`,
			`oplink domains list ${app.orgKey} shows them`,
		);
	}

	return wanted === undefined ? app : {...app, hosts: app.hosts.filter(({name}) => wanted.includes(name))};
};

/** The command that prints the lines that a file lacks. */
export const kitHint = (orgKey: string, platform: string): string =>
	`oplink app kit --org ${orgKey} --for ${platform} prints its lines`;

/** The command that changes the app configuration. */
export const configHint = (orgKey: string): string => `oplink app-config set --org ${orgKey} --file FILE`;

/** The associated domains that an App Clip needs: custom domains open it, the shared one does not. */
export const clipDomains = ({ios, hosts}: ExpectedApp): string[] =>
	ios?.appClipBundleId === undefined ? [] : hosts.flatMap(({name, isShared}) => (isShared ? [] : `appclips:${name}`));
