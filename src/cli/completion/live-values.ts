import type {DeviceJson} from '../../visits/devices/device-store.ts';
import type {MatchAttempt} from '../../visits/matches/match-attempt-store.ts';
import {planNames} from '../advice.ts';
import type {Context} from '../command.ts';
import {topics} from '../help/topics.ts';
import {platformNames} from '../link-fields.ts';
import type {Json} from '../server/admin-client.ts';
import {chosenOrganization, linkSurface, organizationPath} from '../server/link-surface.ts';
import {eachPage, type List, listAt} from '../server/list-pages.ts';
import {readProfiles} from '../server/profiles.ts';

export type Candidate = {value: string; description?: string | undefined};

/** The known part of the command line: its options so far, and its arguments by name. */
type Lookup = {context: Context; args: Readonly<Record<string, string>>};

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

/** Values of a list of the named organization, or of the only one. */
const below =
	<Row>(list: string, candidateOf: (row: Row) => Candidate): Source =>
	async ({context, args}) => {
		const client = context.connection.admin();
		const org = await chosenOrganization({...context, options: {org: args['org'] ?? context.options.org}});
		return (await rowsOf(listAt<Row>(client, `${organizationPath(org)}/${list}`))).map(candidateOf);
	};

const nameOf = ({name}: {name: string}): Candidate => ({value: name});

const organizations: Source = async ({context}) => {
	const rows = await rowsOf(listAt<{orgKey: string; name: string}>(context.connection.admin(), '/admin/organizations'));
	return rows.map(({orgKey, name}) => ({value: orgKey, description: name}));
};

const links: Source = async ({context, args}) => {
	const org = args['org'] ?? context.options.org;
	const {client, base} = await linkSurface({...context, options: {...context.options, org}});
	const rows = await rowsOf(listAt<{shortCode: string; url: string; title: string | null}>(client, base));
	return rows.map(({shortCode, url, title}) => ({value: shortCode, description: title ? `${url} ${title}` : url}));
};

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
	'match id': below('matches', ({id, at, method, reason}: Json<MatchAttempt>) => ({
		value: id,
		description: `${at} ${method ?? reason ?? ''}`,
	})),
	domain: below('domains', ({hostname, status}: {hostname: string; status: string}) => ({
		value: hostname,
		description: status,
	})),
	channel: below('channels', nameOf),
	template: below('templates', nameOf),
	device: below('devices', ({deviceId, deviceModel}: Json<DeviceJson>) => ({
		value: deviceId,
		description: deviceModel ?? undefined,
	})),
	plan: words(...planNames, 'none'),
	tier: words('CLIENT', 'SERVER'),
	...Object.fromEntries(
		platformNames.map(([attribute, names]) => [attribute, words(...names.map((name) => `${name}=`))]),
	),
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
