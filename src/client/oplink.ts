import {bearer, type CallApi, createApiCaller, segment, withoutEndingSlash} from './api-caller.ts';
import {createFirstMatch} from './first-match.ts';
import {createLinkAddresses, type LinkAddress} from './link-address.ts';
import type {AppLink, LinkData, NewAppLink} from './link-shapes.ts';
import {createAppLink, createLinks, type Links} from './links.ts';
import {createListeners, guardedLog, type Listener, type Listeners} from './listeners.ts';
import type {OplinkOptions} from './options.ts';
import {type RetryRule, randomKey, retryRules} from './retry.ts';
import type {
	Device,
	EventOptions,
	Identity,
	Match,
	MatchFound,
	MatchSignals,
	MatchTokens,
	Session,
} from './sdk-shapes.ts';
import {sessionBody, signalsOf, withBareToken} from './sent-fields.ts';
import {sleep as sleepByTimer} from './timer.ts';
import {createUpdateCheck, linkOf, type UpdateRequired} from './update-check.ts';

export {OplinkApiError, OplinkConnectionError, type OplinkFieldFault} from './errors.ts';
export type {OplinkFetch} from './fetch-answer.ts';
export type {OplinkStorage} from './first-match.ts';
export type {
	AppLink,
	Destinations,
	Link,
	LinkChanges,
	LinkDomain,
	LinkFields,
	LinkQuery,
	LinkWithDomain,
	MinimumVersion,
	NewAppLink,
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
	Links,
	Match,
	MatchSignals,
	MatchTokens,
	OplinkOptions,
	Session,
	UpdateRequired,
};

/** Receives the link and how it was found. May be async; its errors are logged and affect nobody else. */
export type LinkListener = Listener<[link: LinkData, match: MatchFound]>;
/** Receives the minimum version that the app does not have, and the link that needs it. */
export type UpdateListener = Listener<[required: UpdateRequired]>;

/**
 * A client of an Oplink server, for Node 20 and later, browsers and React Native.
 *
 * Failed calls reject with OplinkApiError if the server answered and with OplinkConnectionError if it did not,
 * after the retries of contract/sdk 8. `session`, `start` and the link stream never throw.
 */
export class Oplink {
	/** Link management; needs the SERVER key. */
	readonly links: Links;
	readonly #call: CallApi;
	readonly #clientKey: string | undefined;
	readonly #linkBaseUrl: string;
	readonly #addressOf: (url: string) => LinkAddress | null;
	readonly #warn: (message: string, error: unknown) => void;
	readonly #links: Listeners<[LinkData, MatchFound]>;
	readonly #updates: Listeners<[UpdateRequired]>;
	readonly #updateCheck: ReturnType<typeof createUpdateCheck>;
	readonly #firstMatch: (device: Device & MatchTokens) => Promise<void>;

	/** @throws Error without a `baseUrl`. */
	constructor(options: OplinkOptions) {
		const {
			baseUrl,
			linkBaseUrl = baseUrl,
			linkDomains = [],
			clientKey,
			serverKey,
			timeoutSeconds = 10,
			maxRetries = 2,
			fetch,
			sleep = sleepByTimer,
			storage = new Map<string, string>(),
			log = console.warn,
		} = options ?? {};
		// Often of an environment variable, which may be unset.
		if (typeof baseUrl !== 'string') {
			throw new Error("oplink: baseUrl is missing: new Oplink({baseUrl: 'https://api.example.com'})");
		}

		this.#call = createApiCaller({baseUrl: withoutEndingSlash(baseUrl), fetch, timeoutSeconds, maxRetries, sleep});
		this.#clientKey = clientKey;
		this.#linkBaseUrl = withoutEndingSlash(linkBaseUrl);
		this.#addressOf = createLinkAddresses([this.#linkBaseUrl, ...linkDomains.map((name) => `https://${name}`)]);
		this.#warn = guardedLog(log);
		this.#links = createListeners('oplink: a link listener failed', this.#warn);
		this.#updates = createListeners('oplink: an update listener failed', this.#warn);
		this.#updateCheck = createUpdateCheck((required) => this.#updates.publish(required));
		this.#firstMatch = createFirstMatch({
			storage,
			match: (device: Device & MatchTokens) => this.match(signalsOf(device)),
			found: (match) => this.#links.publish(linkOf(match), match),
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
		const path = `/${segment(orgKey, 'orgKey')}/${segment(shortCode, 'shortCode')}`;
		return this.#dataOf({baseUrl: this.#linkBaseUrl, path, query: {}}, deviceId);
	}

	/**
	 * The destination of an address that the system opened the app with, on `linkBaseUrl` or one of `linkDomains`. Its query
	 * becomes part of `params`. Counts as a click.
	 * @returns null, without a request, for an address that is none of your links. @throws as `resolve`.
	 */
	async resolveUrl(url: string, {deviceId}: {deviceId?: string | undefined} = {}): Promise<LinkData | null> {
		const address = this.#addressOf(url);
		return address && this.#dataOf(address, deviceId);
	}

	/** The link that led to this install, if any. A CLIENT key limits guesses to its organization; it is optional. */
	async match(signals: MatchSignals = {}): Promise<Match> {
		const answer = await this.#call<Match>({
			method: 'POST',
			path: '/match',
			body: withBareToken(signals),
			rule: retryRules.resolution,
			headers: this.#clientKey === undefined ? {} : {'X-API-Key': this.#clientKey},
		});
		if (answer?.matched) {
			this.#updateCheck.check(answer);
		}

		return answer;
	}

	/**
	 * Reports that the app was opened. One attempt: the next open sends it again.
	 * @returns null after a failure, which is logged and never thrown.
	 */
	async session(device: Device): Promise<Session | null> {
		try {
			const body = sessionBody(device);
			this.#updateCheck.know(device);
			return await this.#report<Session>('/sdk/session', body, retryRules.session);
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
	 * Creates a short link of a template that the organization has opened to apps; the same content of the same device is
	 * the same link.
	 * @param options `link`, an existing link such as `https://go.example.com/AbCd/invite`, makes the call never fail: if the
	 * request does, which is logged, the answer is that link with the params as its query. @throws as `identify` without it.
	 */
	createLink(body: NewAppLink, options: {link?: string | undefined} = {}): Promise<AppLink> {
		return createAppLink({report: (...given) => this.#report(...given), warn: this.#warn}, body, options);
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
		return this.#links.subscribe(listener);
	}

	/**
	 * Subscribes to links that need a newer app (contract/sdk 9): those of `resolve`, `match` and `start`, compared with
	 * the device of the last `session` or `start`. The link itself is handed over all the same.
	 * @returns a function that ends the subscription.
	 */
	onUpdateRequired(listener: UpdateListener): () => void {
		return this.#updates.subscribe(listener);
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

	async #dataOf({baseUrl, path, query}: LinkAddress, deviceId: string | undefined): Promise<LinkData> {
		const link = await this.#call<LinkData>({
			method: 'GET',
			baseUrl,
			path: `${path}/data`,
			query: {...query, deviceId},
			rule: retryRules.resolution,
		});
		this.#updateCheck.check(link);
		return link;
	}

	#report<T>(path: string, body: object, rule: RetryRule = retryRules.report) {
		return this.#call<T>({method: 'POST', path, body, rule, headers: bearer(this.#clientKey)});
	}
}
