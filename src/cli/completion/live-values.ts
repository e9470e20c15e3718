import {platformFieldNames} from '../../links/platform-fields.ts';
import {planNames} from '../advice.ts';
import type {Context} from '../command.ts';
import {topics} from '../help/topics.ts';
import {chosenOrganization, linkSurface, organizationPath} from '../server/link-surface.ts';
import {eachPage, type List, listAt} from '../server/list-pages.ts';
import {readProfiles} from '../server/profiles.ts';

/** A candidate and its description. */
export type Candidate = {value: string; description?: string | undefined};

/** The known part of the command line: its options so far, and its arguments by name. */
export type Lookup = {context: Context; args: Readonly<Record<string, string>>};

type Source = (lookup: Lookup) => Candidate[] | Promise<Candidate[]>;

/** Longer lists help nobody. */
const MAX_ROWS = 500;

/** The part of a list read before the deadline. */
const rowsOf = async <Row>(list: List<Row>): Promise<Row[]> => {
	const rows: Row[] = [];
	try {
		for await (const {data} of eachPage(list)) {
			rows.push(...data);
			if (rows.length >= MAX_ROWS) {
				break;
			}
		}
	} catch {
		// A partial list is still useful.
	}

	return rows;
};

type Link = {id: string; shortCode: string; url: string; title: string | null};
type Domain = {id: string; hostname: string; status: string};
type Named = {id: string; name: string};
type Attempt = {id: string; at: string; method: string | null; reason: string | null};

/** Rows of a list of the named organization, or of the only one. */
const below = async <Row>({context, args}: Lookup, list: string): Promise<Row[]> => {
	const client = context.connection.admin();
	const org = await chosenOrganization(client, args['org'] ?? context.options.org);
	return rowsOf(listAt<Row>(client, `${organizationPath(org)}/${list}`));
};

const organizations: Source = async ({context}) => {
	const rows = await rowsOf(listAt<{orgKey: string; name: string}>(context.connection.admin(), '/admin/organizations'));
	return rows.map(({orgKey, name}) => ({value: orgKey, description: name}));
};

const links: Source = async ({context, args}) => {
	const org = args['org'] ?? context.options.org;
	const surface = await linkSurface(org === undefined ? context : {...context, options: {...context.options, org}});
	const rows = await rowsOf((query) =>
		surface.client.get<{data: Link[]; total: number; page: number; limit: number}>(surface.base, query),
	);
	return rows.map(({shortCode, url, title}) => ({value: shortCode, description: title ? `${url} ${title}` : url}));
};

const domainRows = (lookup: Lookup) => below<Domain>(lookup, 'domains');
const domains: Source = async (lookup) =>
	(await domainRows(lookup)).map(({hostname, status}) => ({value: hostname, description: status}));
const channels: Source = async (lookup) => (await below<Named>(lookup, 'channels')).map(({name}) => ({value: name}));
const templates: Source = async (lookup) => (await below<Named>(lookup, 'templates')).map(({name}) => ({value: name}));
const devices: Source = async (lookup) =>
	(await below<{id: string; deviceId: string; deviceModel: string | null}>(lookup, 'devices')).map(
		({deviceId, deviceModel}) => ({value: deviceId, description: deviceModel ?? undefined}),
	);
const attempts: Source = async (lookup) =>
	(await below<Attempt>(lookup, 'matches')).map(({id, at, method, reason}) => ({
		value: id,
		description: `${at} ${method ?? reason ?? ''}`,
	}));

const profiles: Source = ({context}) =>
	[...readProfiles(context.io.env).byName.values()].map(({name, url}) => ({value: name, description: url}));

const words =
	(...values: string[]): Source =>
	() =>
		values.map((value) => ({value}));

/**
 * The source of values for an argument or option, by its name, prefixed with the command's first word where the name
 * has another meaning there.
 */
export const sources: Readonly<Record<string, Source>> = {
	org: organizations,
	link: links,
	links,
	'match id': attempts,
	domain: domains,
	channel: channels,
	template: templates,
	device: devices,
	plan: words(...planNames, 'none'),
	tier: words('CLIENT', 'SERVER'),
	destination: words(...platformFieldNames.destinations.map((name) => `${name}=`)),
	minimumVersion: words(...platformFieldNames.minimumVersion.map((name) => `${name}=`)),
	shell: words('bash', 'zsh', 'fish'),
	profile: profiles,
	'login name': profiles,
	'logout name': profiles,
	'help words': () => topics.map(({name, summary}) => ({value: name, description: summary})),
};

/** Names of files or folders, which shells complete best. */
export const fileNames: ReadonlySet<string> = new Set([
	'file',
	'output',
	'failed',
	'sheet',
	'tokenFile',
	'android',
	'ios',
	'info',
	'expo',
]);
