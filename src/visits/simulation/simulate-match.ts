import {randomUUID} from 'node:crypto';
import {IncomingMessage} from 'node:http';
import {Socket} from 'node:net';
import type {Organization} from '../../accounts/organizations/organization-store.ts';
import {findOwnDomain} from '../../links/domains/locate.ts';
import {paramsAnswer} from '../../links/links/link-answer.ts';
import {createLinkStore} from '../../links/links/link-store.ts';
import {getLink} from '../../links/links/read-links.ts';
import type {Db} from '../../platform/db/db.ts';
import {run, sql} from '../../platform/db/sql.ts';
import {linkNotFound, matchAttemptNotFound, noDeferredLink, required} from '../../platform/errors.ts';
import {
	answerOf,
	anyObject,
	flag,
	instant,
	optional,
	orNull,
	partOf,
	text,
	uuid,
	type ValueOf,
} from '../../platform/http/answer.ts';
import {hostnameOf} from '../../platform/http/request-host.ts';
import type {Services} from '../../services.ts';
import type {MatchFields} from '../matches/first-open.ts';
import {matchAnswer, unkeptAttemptAnswer} from '../matches/match-answer.ts';
import {takeSignals} from '../resolution/signals.ts';
import {visitLink} from '../resolution/visit-link.ts';
import type {Visit} from '../visit/visit.ts';
import {type DryServices, dryRun, dryRunMatch, type RunDeps} from './dry-run.ts';
import {browserOf, type SimulatedNetwork, type SimulatedPhone, simulatedNetworks} from './simulated-phone.ts';

/** The simulation's input. Without a named link, the newest deferred one is played. */
export type SimulationInput = SimulatedPhone & {
	linkId?: string;
	shortCode?: string;
	network: SimulatedNetwork;
	/** From the click to the first open. */
	delaySeconds: number;
	/** The query of the visited URL. */
	query?: Record<string, string>;
	/** Whether the page's script posts its signals. */
	beacon: boolean;
	/** Whether the app reads the text that the page copied to the clipboard. */
	clipboard: boolean;
	referrer: boolean;
	/** Whether the app sends the organization's CLIENT key. */
	apiKey: boolean;
};

/** The result that `oplink match simulate` prints. */
export const simulationAnswer = answerOf('Simulation', {
	link: partOf({id: uuid, url: text, deferredDeepLinking: flag}),
	tap: partOf({
		at: instant,
		ip: text,
		headers: paramsAnswer,
		/** The signals that the script posted; null if it posted none. */
		signals: orNull(anyObject),
		query: optional(paramsAnswer),
		/** Where the page leaves its token. */
		leaves: partOf({clipboard: flag, referrer: flag}),
	}),
	open: partOf({at: instant, ip: text, apiKey: flag, body: anyObject}),
	answer: matchAnswer,
	attempt: unkeptAttemptAnswer,
});
export type Simulation = ValueOf<typeof simulationAnswer>;

/** A visit as the server would get it, from an address and with a body of our choosing. */
const visitFrom = ({ip, headers, body = ''}: {ip: string; headers: Record<string, string>; body?: string}): Visit => {
	const stream = new IncomingMessage(new Socket());
	stream.headers = headers;
	stream.push(body);
	stream.push(null);
	return {ip, hostname: null, headers, stream, isHead: false};
};

type Page = {token: string | null; copies: boolean; referrer: string | null; postsSignals: boolean};

/** The parts of the page that matter to a match: its token, whether the button copies it, the store's referrer, and whether it posts signals. */
const readPage = (html: string): Page => {
	const [, behind = ''] = html.split('<script type="application/json" id="config">', 2);
	const [config = ''] = behind.split('</script>', 1);
	const {token, signalUrl} = JSON.parse(config || '{}') as {token?: string | null; signalUrl?: string | null};
	const store = html.split('href="').find((part) => part.startsWith('https://play.google.com/')) ?? '';
	const referrer = /referrer=([^&]+)/.exec(store.split('"', 1)[0] ?? '')?.[1];
	return {
		token: token ?? null,
		copies: html.includes(' data-copies="'),
		referrer: referrer === undefined ? null : decodeURIComponent(referrer),
		postsSignals: signalUrl != null,
	};
};

const newestDeferredLink = async (db: Db, organizationId: string, now: Date): Promise<string> => {
	const [newest] = await run<{id: string}>(
		db,
		sql`SELECT links.id FROM links LEFT JOIN templates ON templates.id = links.template_id
		WHERE links.organization_id = ${organizationId} AND links.is_active AND (links.expiry IS NULL OR links.expiry > ${now})
			AND coalesce(links.deferred_deep_linking, templates.deferred_deep_linking, true)
		ORDER BY links.created_at DESC, links.id DESC LIMIT 1`,
	);
	return required(newest, noDeferredLink).id;
};

const linkIdOf = async (
	{db, clock}: Pick<Services, 'db' | 'clock'>,
	organizationId: string,
	{linkId, shortCode}: SimulationInput,
): Promise<string> => {
	if (linkId !== undefined) {
		return linkId;
	}

	if (shortCode === undefined) {
		return newestDeferredLink(db, organizationId, clock.now());
	}

	const [named] = await createLinkStore(db, organizationId).findNamed({shortCodes: [shortCode], externalIds: []});
	return required(named, linkNotFound).id;
};

type SimulationRun = {organization: Organization; input: SimulationInput};

/** Tap, beacon and first open by the code that serves them, over services of one transaction. */
const play = async (services: DryServices, {organization, input}: SimulationRun): Promise<Simulation> => {
	const {platform, osVersion, deviceModel, language, timezone, query, delaySeconds} = input;
	const linkId = await linkIdOf(services, organization.id, input);
	const {id, url: shortUrl, shortCode, deferredDeepLinking} = await getLink(services, {organization, id: linkId});
	const {tap, open} = simulatedNetworks[input.network];
	const {headers, signals} = browserOf(input);
	const tappedAt = services.clock.now();
	const hostname = hostnameOf(new URL(shortUrl).host);
	const place = {
		role: services.hostRoles.roleOf(hostname),
		domain: await findOwnDomain(services, hostname),
		path: {orgKey: organization.orgKey, shortCode, data: false},
	};
	const {body: html} = await visitLink(services, visitFrom({ip: tap, headers}), place, query ?? null);
	const page = readPage(html);
	const posted = page.postsSignals && input.beacon ? signals : null;
	if (posted !== null) {
		const body = JSON.stringify({token: page.token, ...posted});
		const sent = {...headers, 'content-type': 'text/plain', 'content-length': String(Buffer.byteLength(body))};
		await takeSignals(services, visitFrom({ip: tap, headers: sent, body}), false);
	}

	const openedAt = new Date(tappedAt.getTime() + delaySeconds * 1000);
	const fields: MatchFields = {
		deviceId: `simulated-${randomUUID()}`,
		platform,
		osVersion,
		deviceModel,
		language,
		timezone,
		...(input.clipboard && page.copies ? {clipboardToken: page.token} : {}),
		...(input.referrer && page.referrer !== null ? {installReferrer: page.referrer} : {}),
	};
	const {answer, attempt} = await dryRunMatch(
		{...services, clock: {now: () => openedAt}},
		{fields, ip: open, organization: input.apiKey ? organization : null},
	);
	return {
		link: {id, url: shortUrl, deferredDeepLinking},
		tap: {
			at: tappedAt,
			ip: tap,
			headers,
			signals: posted,
			...(query && {query}),
			leaves: {clipboard: page.copies, referrer: page.referrer !== null},
		},
		open: {at: openedAt, ip: open, apiKey: input.apiKey, body: fields},
		answer,
		attempt: required(attempt, matchAttemptNotFound),
	};
};

/**
 * Simulates a click on a link and an app's first open some time later, by the code that serves real ones, in a transaction
 * that is rolled back: nothing is counted, consumed or registered. Addresses are of the documentation's ranges:
 * no real click is near.
 * @throws 404 for a link that the organization does not have, 410 for one that does not resolve.
 */
export const simulateMatch = async (services: RunDeps, played: SimulationRun): Promise<Simulation> => {
	// A month's partition is kept: the next real click would make it, too.
	await services.clickPartitions.ensure(services.clock.now());
	return dryRun(services, (dry) => play(dry, played));
};
