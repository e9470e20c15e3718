import {Option} from 'commander';
import type {MatchAttempt} from '../../visits/matches/match-attempt-store.ts';
import {outcomeWord} from '../../visits/matches/outcome-words.ts';
import type {Simulation} from '../../visits/simulation/simulate-match.ts';
import {simulatedNetworks} from '../../visits/simulation/simulated-phone.ts';
import {withQuery} from '../../visits/visit/tap-query.ts';
import {usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {orgOption, pageOptions} from '../common-options.ts';
import {
	type Attempt,
	type LinkNames,
	linksOf,
	matchTrace,
	type ReceivedData,
	receivedText,
	timeText,
} from '../match-trace.ts';
import type {Json} from '../server/admin-client.ts';
import {
	allOrBound,
	type OrganizationApi,
	organizationApi,
	organizationAt,
	organizationPath,
} from '../server/link-surface.ts';
import {listAt, listPages} from '../server/list-pages.ts';
import {type KnownLink, linksOfIds, namedAdminLink, queryOf} from '../server/named-link.ts';
import {durationOption, durationText} from '../terminal/duration.ts';
import {keyValues} from '../terminal/output.ts';

type SimulateOptions = {
	platform: 'ios' | 'android';
	osVersion?: string;
	deviceModel?: string;
	network?: string;
	language?: string;
	timezone?: string;
	delay?: number;
	clipboard?: boolean;
	referrer?: boolean;
	beacon: boolean;
	key: boolean;
};

/** The data of a matched link that the app receives, by the link's present state; null without a match or a link. */
const readReceived = async (
	{client, path}: Pick<OrganizationApi, 'client' | 'path'>,
	{linkId, query}: Attempt,
	links: ReadonlyMap<string, KnownLink | null>,
): Promise<ReceivedData | null> => {
	const link = links.get(linkId ?? '');
	if (!link) {
		return null;
	}

	const template =
		link.templateId === null
			? null
			: await client
					.get<{path: string | null; params: Record<string, string> | null}>(`${path}/templates/${link.templateId}`)
					// The scope may be missing; the link's own fields are known.
					.catch(() => null);
	return {
		path: link.path ?? template?.path ?? '/',
		params: withQuery({...template?.params, ...link.params}, query ?? {}),
	};
};

/** Maximum attempts whose links are named: those of one page. */
const MAX_NAMED = 100;

/** The tokens that the page leaves, or the reason why it leaves none. */
const pageText = ({link, tap, open}: Json<Simulation>): string => {
	const {clipboard, referrer} = tap.leaves;
	const left = [...(clipboard ? ['on the clipboard'] : []), ...(referrer ? ['in the install referrer'] : [])];
	if (left.length > 0) {
		return `leaves a token ${left.join(' and ')}; ${tap.signals === null ? 'posts no signals' : 'posts its signals'}`;
	}

	return link.deferredDeepLinking
		? `leaves no token: the app configuration names no ${open.body.platform} app`
		: 'leaves no token: the link is not deferred';
};

const simulationText = (simulation: Json<Simulation>, width: number): string => {
	const {link, tap, open} = simulation;
	const {platform, osVersion, deviceModel, clipboardToken, installReferrer} = open.body;
	const carried = [...(clipboardToken ? ['clipboard token'] : []), ...(installReferrer ? ['install referrer'] : [])];
	const delay = durationText((Date.parse(open.at) - Date.parse(tap.at)) / 1000);
	return keyValues(
		[
			['clicked', tap.query === undefined ? link.url : `${link.url}?${new URLSearchParams(tap.query)}`],
			['phone', `${deviceModel} with ${platform} ${osVersion}, at ${tap.ip}`],
			['page', pageText(simulation)],
			['opened', `${delay} later, at ${open.ip}`],
			['app sends', carried.length === 0 ? 'no token' : carried.join(' and ')],
		],
		width,
	);
};

export const matchCommands: CommandGroup = {
	name: 'match',
	summary: 'Explain and simulate matches',
	commands: [
		command({
			usage: 'explain <id>',
			summary: 'Explain a match attempt',
			about: 'Shows the request, every candidate with its points, and the reason for the answer.',
			examples: ['explain 5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11'],
			options: [new Option('--org <org>', 'organization of the attempt (id or orgKey)')],
			run: async ({connection, options, show}, id: string) => {
				const client = connection.admin();
				const below = (owner: string) => client.get<Json<MatchAttempt>>(`${owner}/matches/${encodeURIComponent(id)}`);
				const within = (org: string) => below(organizationPath(org));
				const attempt = await (options.org === undefined
					? allOrBound(client, () => below('/admin'), within)
					: within(options.org));
				if (show.json) {
					await show.answer(attempt, String);
					return;
				}

				const place = organizationAt(client, attempt.organizationId ?? '');
				const links = await linksOfIds(place, linksOf(attempt));
				const received = await readReceived(place, attempt, links);
				await show.answer(attempt, (answer) =>
					[receivedText(answer, received, show.width), matchTrace(answer, links, show)].join('\n\n'),
				);
			},
		}),

		command({
			usage: 'list [org]',
			summary: 'List match attempts, newest first',
			examples: ['list', 'list --org Ab12 --all --json'],
			options: pageOptions(),
			run: async (context) => {
				const {show, options} = context;
				const place = await organizationApi(context);
				const page = await listPages(listAt<Json<MatchAttempt>>(place.client, `${place.path}/matches`), options);
				const ids = page.data.slice(0, MAX_NAMED).flatMap(({linkId}) => linkId ?? []);
				const links = show.json ? new Map() : await linksOfIds(place, ids);
				await show.page(
					page,
					[
						// The year and the seconds would take the place of the device.
						{title: 'AT (UTC)', value: ({at}) => (show.isWide ? timeText(at) : timeText(at).slice(5, 16))},
						{title: 'ID', value: ({id}) => id},
						{title: 'OUTCOME', value: outcomeWord},
						{title: 'CONFIDENCE', value: ({confidence}) => confidence, wide: true},
						{title: 'LINK', value: ({linkId}) => links.get(linkId)?.shortCode ?? linkId, flexible: true},
						{title: 'DEVICE', value: ({deviceId}) => deviceId, flexible: true},
					],
					'oplink match simulate tries one; the app asks at its first open (docs/sdk.md)',
				);
			},
		}),

		command({
			usage: 'simulate [link]',
			summary: 'Simulate a click and a first open',
			about: 'The server shows the result and stores nothing.',
			examples: [
				'simulate https://go.acme.example/Ab12/spring --platform android --no-referrer --delay 3h',
				"simulate 'https://go.acme.example/Ab12/invite?ref=42'",
			],
			options: [
				orgOption(),
				new Option('--platform <platform>', 'phone of the click and the first open')
					.choices(['ios', 'android'])
					.default('ios'),
				new Option('--os-version <version>', 'OS version, such as 17.5.1'),
				new Option('--device-model <code>', 'model as the OS names it, such as iPhone15,2 or "Pixel 8"'),
				new Option('--language <tag>', 'language, such as de-CH'),
				new Option('--timezone <name>', 'timezone, such as Europe/Zurich'),
				new Option(
					'--network <network>',
					'network of the first open: same address, nearby (same /24), another network, same IPv6 network, or IPv4 after IPv6',
				).choices(Object.keys(simulatedNetworks)),
				durationOption('--delay <time>', 'time from the click to the first open, such as 90s, 10m, 3h or 2d'),
				new Option('--clipboard', 'the app reads the clipboard (default on iOS)'),
				new Option('--no-clipboard', 'the app does not read the clipboard'),
				new Option('--referrer', 'the app reads the install referrer (default on Android)'),
				new Option('--no-referrer', 'the app does not read the install referrer'),
				new Option('--with-key', 'the app sends its CLIENT key (default)').conflicts('key'),
				new Option('--no-key', 'the app sends no CLIENT key'),
				new Option('--no-beacon', 'the page posts no signals, as when scripts are blocked'),
			],
			run: async (context: Context<SimulateOptions>, name: string | undefined) => {
				const {options, show} = context;
				const {osVersion, deviceModel, language, timezone, network, clipboard, referrer, beacon} = options;
				const platform = options.platform === 'ios' ? 'iOS' : 'Android';
				if (platform === 'iOS' && referrer) {
					throw usageError('iOS has no install referrer', 'Leave out --referrer, or add --platform android');
				}

				const named = name === undefined ? null : await namedAdminLink(context, name);
				const {client, path} = named ?? (await organizationApi(context));
				const simulation = await client.post<Json<Simulation>>(`${path}/matches/simulate`, {
					linkId: named?.id,
					query: name === undefined ? undefined : queryOf(name),
					platform,
					osVersion,
					deviceModel,
					language,
					timezone,
					network,
					delaySeconds: options.delay,
					clipboard,
					referrer,
					beacon,
					apiKey: options.key,
				});
				const {link, attempt, answer} = simulation;
				const links: LinkNames = new Map([
					[link.id, {url: link.url, shortCode: link.url.split('/').at(-1) ?? link.id}],
				]);
				const received = 'path' in answer ? {path: answer.path, params: answer.params} : null;
				await show.answer(simulation, () =>
					[
						receivedText(attempt, received, show.width),
						simulationText(simulation, show.width),
						matchTrace(attempt, links, show),
					].join('\n\n'),
				);
				await show.note('Nothing was stored: no click was counted or consumed.');
			},
		}),
	],
};
