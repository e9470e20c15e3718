import {bearer, type CallApi, createApiCaller, segment, withoutEndingSlash} from './api-caller.ts';
import type {OplinkFetch} from './fetch-answer.ts';
import {createFirstMatch, type OplinkStorage} from './first-match.ts';
import type {LinkData} from './link-shapes.ts';
import {createLinkStream, type LinkListener, type LinkStream} from './link-stream.ts';
import {createLinks, type Links} from './links.ts';
import {randomKey} from './random-key.ts';
import {retryRules} from './retry.ts';
import type {Device, EventOptions, Identity, Match, MatchSignals, MatchTokens, Session} from './sdk-shapes.ts';
import {sleep as sleepByTimer} from './timer.ts';

export {OplinkApiError, OplinkConnectionError, type OplinkFieldFault} from './errors.ts';
export type {
	Link,
	LinkChanges,
	LinkDomain,
	LinkFields,
	LinkQuery,
	LinkWithDomain,
	NewLink,
	OpenGraph,
	Page,
} from './link-shapes.ts';
export type {MatchConfidence, MatchFound, MatchMethod, Platform} from './sdk-shapes.ts';
export type {
	Device,
	EventOptions,
	Identity,
	LinkData,
	LinkListener,
	Links,
	Match,
	MatchSignals,
	MatchTokens,
	OplinkFetch,
	OplinkStorage,
	Session,
};

export type OplinkOptions = {
	/** The API host, such as `https://api.example.com`. */
	baseUrl: string;
	/** The host of links, if the installation has a separate link domain; default `baseUrl`. */
	linkBaseUrl?: string | undefined;
	/** `opl_sdk_…`, for apps and pages. */
	clientKey?: string | undefined;
	/** `opl_api_…`, for servers: it allows changing links. */
	serverKey?: string | undefined;
	/** Per attempt; default 10. */
	timeoutSeconds?: number | undefined;
	/** Per call, for all kinds of failure together; default 2. */
	maxRetries?: number | undefined;
	/** Default: the platform's. */
	fetch?: OplinkFetch | undefined;
	/** Waits between attempts, in seconds; replaced by tests. */
	sleep?: ((seconds: number) => Promise<unknown>) | undefined;
	/** Where `start` records that this installation was matched. Default: memory, so once per process. */
	storage?: OplinkStorage | undefined;
	/** Receives errors that are not thrown. Default: console.warn. */
	log?: ((message: string, error: unknown) => void) | undefined;
};

const guarded =
	(log: (message: string, error: unknown) => void) =>
	(message: string, error: unknown): void => {
		try {
			log(message, error);
		} catch {
			// `session` and `start` never throw, with a log that does neither.
		}
	};

const sessionBody = (device: Device): Device => {
	const {deviceId, platform, osVersion, deviceModel, appVersion, sdkVersion, language, timezone} = device;
	return {deviceId, platform, osVersion, deviceModel, appVersion, sdkVersion, language, timezone};
};

/**
 * The token in a text, if there is one. Other clipboard contents are private, and a text of more than 100 characters,
 * such as a campaign's referrer, would make the server refuse the match.
 */
const tokenIn = (text: string | undefined): string | undefined =>
	/opl_[A-Za-z0-9]{32}(?![A-Za-z0-9])/.exec(text ?? '')?.[0];

const signalsOf = (device: Device & MatchTokens): MatchSignals => {
	const {clipboardToken, installReferrer, deviceId, platform, osVersion, deviceModel, language, timezone} = device;
	return {
		clipboardToken: tokenIn(clipboardToken),
		installReferrer: tokenIn(installReferrer),
		deviceId,
		platform,
		osVersion,
		deviceModel,
		language,
		timezone,
	};
};

/**
 * A client of an Oplink server, for Node 20 and later, browsers and React Native.
 *
 * Failed calls reject with OplinkApiError where the server answered and with OplinkConnectionError where it did not,
 * after the retries of contract/client 3. The constructor, `session`, `start` and the link stream never throw.
 */
export class Oplink {
	/** Link management; needs the SERVER key. */
	readonly links: Links;
	readonly #call: CallApi;
	readonly #clientKey: string | undefined;
	readonly #linkBaseUrl: string;
	readonly #warn: (message: string, error: unknown) => void;
	readonly #stream: LinkStream;
	readonly #firstMatch: (device: Device & MatchTokens) => Promise<void>;

	constructor({
		baseUrl,
		linkBaseUrl = baseUrl,
		clientKey,
		serverKey,
		timeoutSeconds = 10,
		maxRetries = 2,
		fetch,
		sleep = sleepByTimer,
		storage = new Map<string, string>(),
		log = console.warn,
	}: OplinkOptions) {
		this.#call = createApiCaller({baseUrl: withoutEndingSlash(baseUrl), fetch, timeoutSeconds, maxRetries, sleep});
		this.#clientKey = clientKey;
		this.#linkBaseUrl = withoutEndingSlash(linkBaseUrl);
		this.#warn = guarded(log);
		this.#stream = createLinkStream(this.#warn);
		this.#firstMatch = createFirstMatch({
			storage,
			match: (device: Device & MatchTokens) => this.match(signalsOf(device)),
			found: (match) => this.#stream.publish(match),
			warn: this.#warn,
		});
		this.links = createLinks(this.#call, serverKey);
	}

	/**
	 * The destination of the link that opened the app. Counts as a click.
	 * @param options `deviceId` (8 to 100 characters) registers the device. @throws OplinkApiError 404 for an unknown
	 * link, 410 for one that is deactivated, expired or suspended.
	 */
	async resolve(
		orgKey: string,
		shortCode: string,
		{deviceId}: {deviceId?: string | undefined} = {},
	): Promise<LinkData> {
		return this.#call({
			method: 'GET',
			baseUrl: this.#linkBaseUrl,
			path: `/${segment(orgKey, 'orgKey')}/${segment(shortCode, 'shortCode')}/data`,
			query: {deviceId},
			rule: retryRules.resolution,
		});
	}

	/** The link that led to this install, if any. A CLIENT key limits guesses to its organization; it is optional. */
	match(signals: MatchSignals = {}): Promise<Match> {
		return this.#call({
			method: 'POST',
			path: '/match',
			body: signals,
			rule: retryRules.resolution,
			headers: this.#clientKey === undefined ? {} : {'X-API-Key': this.#clientKey},
		});
	}

	/**
	 * Reports that the app was opened. One attempt: the next open sends it again.
	 * @returns null after a failure, which is logged and never thrown.
	 */
	async session(device: Device): Promise<Session | null> {
		try {
			return await this.#report<Session>('/sdk/session', sessionBody(device), retryRules.session);
		} catch (error) {
			this.#warn('oplink: no session', error);
			return null;
		}
	}

	/**
	 * Associates a device with the app's own user id (1 to 255 characters) and further data (at most 4 KiB as JSON).
	 * @throws OplinkApiError 404 for a device without a session.
	 */
	identify(deviceId: string, externalUserId: string, traits?: Record<string, unknown>): Promise<Identity> {
		return this.#report('/sdk/identity', {deviceId, externalUserId, traits});
	}

	/** Removes a device's user. @throws as `identify`. */
	clearIdentity(deviceId: string): Promise<{deviceId: string; externalUserId: null}> {
		return this.#report('/sdk/identity/clear', {deviceId});
	}

	/**
	 * Records an event (name of 1 to 100 characters, properties of at most 10240 bytes as JSON). Each call has an event
	 * id, so that a retry after a lost answer does not count it twice.
	 * @throws as `identify`.
	 */
	track(
		deviceId: string,
		eventName: string,
		properties: Record<string, unknown> = {},
		{eventId = randomKey(), occurredAt, linkId}: EventOptions = {},
	): Promise<{accepted: true}> {
		return this.#report('/sdk/events', {deviceId, eventName, properties, eventId, occurredAt, linkId});
	}

	/**
	 * Subscribes to the links that `start` finds. A link found without a listener goes to the first one.
	 * @returns a function that ends the subscription.
	 */
	onLink(listener: LinkListener): () => void {
		return this.#stream.subscribe(listener);
	}

	/**
	 * Call it at each open of the app: it sends a session, then once per installation requests a match, whose link goes
	 * to the listeners. Never throws; failures are logged and retried at the next open.
	 * @param device may contain the raw clipboard text and install referrer: only a token in them is sent.
	 */
	async start(device: Device & MatchTokens): Promise<void> {
		await this.session(device);
		await this.#firstMatch(device);
	}

	#report<T>(path: string, body: object, rule: (typeof retryRules)['report' | 'session'] = retryRules.report) {
		return this.#call<T>({method: 'POST', path, body, rule, headers: bearer(this.#clientKey)});
	}
}
