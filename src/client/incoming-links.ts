import {queryText} from './api-caller.ts';
import {appPathOf} from './app-path.ts';
import type {LinkData} from './link-shapes.ts';
import {guardedLog} from './listeners.ts';
import type {Device, MatchTokens} from './sdk-shapes.ts';
import {sleep as sleepByTimer} from './timer.ts';

/** The part of the client that the adapters use. */
export type LinkClient = {
	start(device: Device & MatchTokens): Promise<void>;
	onLink(listener: (link: LinkData) => void): () => void;
	resolveUrl(url: string, options: {deviceId?: string | undefined}): Promise<LinkData | null>;
};

export type IncomingOptions = {
	oplink: LinkClient;
	/** Reads the device; `start` and `resolveUrl` get it. */
	device: () => Device | Promise<Device>;
	/** Reads clipboard and install referrer. It may wait for a person, as a screen with a paste button does. */
	tokens?: (() => MatchTokens | Promise<MatchTokens>) | undefined;
	/**
	 * Whether a target may be opened now, such as `() => session.isSignedIn`. A target that may not is held until `ready`
	 * is called. `target` is `/path?params` for a link, and any other address as it came.
	 */
	mayOpen?: ((target: string) => boolean) | undefined;
	/** How long the first screen waits for its link; default 3. A link that comes later is opened all the same. */
	waitSeconds?: number | undefined;
	/** Receives errors that are not thrown. Default: console.warn. */
	log?: ((message: string, error: unknown) => void) | undefined;
	/** Waits; replaced by tests. */
	sleep?: ((seconds: number) => Promise<unknown>) | undefined;
};

/**
 * Systems report an address that opened the app more than once. The same one again within this time is the same visit.
 */
const REPEAT_SECONDS = 2;

/** An address that only starts the app: none, the root of a scheme, or of Expo's own apps. */
const isStart = (url: string | null): boolean =>
	url === null ||
	/^(?:[a-z][\w+.-]*:)?\/*$/i.test(url) ||
	/^exps?:\/\/[^/?]*(?:\/--)?\/?(?:\?.*)?$/i.test(url) ||
	/:\/\/expo-development-client\b/i.test(url);

/** The screen's path with the params as its query, as the page's own link into the app has them. */
const targetOf = ({path, params}: LinkData): string => {
	const {route, query, fragment} = appPathOf(path);
	const more = queryText(params);
	return `/${route}${query}${query === '' ? more : more.replace('?', '&')}${fragment}`;
};

/**
 * Merges the targets that open an app: the address of a cold start, those of warm starts, and the deferred link. Each
 * is opened once: as the first screen if it is known in time, else by `open`, after `ready` was called.
 */
export class IncomingLinks {
	readonly #options: IncomingOptions;
	readonly #warn: (message: string, error: unknown) => void;
	readonly #sleep: (seconds: number) => Promise<unknown>;
	/** Addresses reported a moment ago. */
	readonly #recent = new Set<string>();
	#held: string[] = [];
	#open: ((target: string) => void) | null = null;
	#isReady = false;
	#isOpenedByLink = false;
	/** Whether the next target is the first screen. */
	#isFirstOpen = true;
	#showFirst: (target: string | null) => void = () => {};
	readonly #deferred = new Promise<string | null>((resolve) => {
		this.#showFirst = resolve;
	});

	constructor(options: IncomingOptions) {
		this.#options = options;
		this.#warn = guardedLog(options.log ?? console.warn);
		this.#sleep = options.sleep ?? sleepByTimer;
		options.oplink.onLink((link) => {
			// A person that opened the app by a link wants that one.
			if (!this.#isOpenedByLink) {
				this.#show(targetOf(link));
			}
		});
	}

	/** The first screen's target, of the address that started the app; null if there is none yet. */
	async first(url: string | null): Promise<string | null> {
		const isByLink = url !== null && !isStart(url) && !this.#recent.has(url);
		this.#isOpenedByLink = !isStart(url);
		this.#start();
		const target = isByLink ? this.#read(url) : this.#deferred;
		if (isByLink) {
			// A link that was reported before this call is another one.
			this.#deferred.then((other) => other !== null && this.#offer(other));
			this.#isFirstOpen = false;
		}

		let isLate = false;
		const limit = this.#sleep(this.#options.waitSeconds ?? 3).then(() => {
			isLate = true;
			this.#isFirstOpen = false;
			return null;
		});
		target.then((late) => isLate && late !== null && this.#offer(late));
		const found = await Promise.race([target, limit]);
		this.#isFirstOpen = false;
		return found === null ? null : this.#allowed(found);
	}

	/** The content that an address opens in the running app; null if it opens none or is held. */
	async next(url: string): Promise<string | null> {
		const target = isStart(url) ? url : await this.#read(url);
		return target === null || isStart(url) ? target : this.#allowed(target);
	}

	/** Opens the target of an address by `open`. */
	async arrive(url: string): Promise<void> {
		const target = isStart(url) ? null : await this.#read(url);
		if (target !== null) {
			this.#show(target);
		}
	}

	/** Opens links from now on by `listener`. @returns a function that ends this. */
	openBy(listener: (target: string) => void): () => void {
		this.#open = listener;
		this.#flush();
		return () => {
			this.#open = this.#open === listener ? null : this.#open;
		};
	}

	/** Opens the held targets. Call it when screens are shown, and when somebody has signed in. */
	ready(): void {
		this.#isReady = true;
		this.#flush();
	}

	async #start(): Promise<void> {
		const {device, tokens = () => ({}), oplink} = this.#options;
		const [own, found] = [await this.#attempt('device', device, null), await this.#attempt('tokens', tokens, {})];
		await (own && this.#attempt('start', () => oplink.start({...own, ...found}), undefined));
		if (this.#isFirstOpen) {
			this.#show(null);
		}
	}

	/** Makes a target the first screen, while that one waits, else opens it. */
	#show(target: string | null): void {
		if (this.#isFirstOpen) {
			this.#isFirstOpen = false;
			this.#showFirst(target);
		} else if (target !== null) {
			this.#offer(target);
		}
	}

	/** The content that an address opens; null if its link cannot be resolved, or if the address is repeated. */
	async #read(url: string): Promise<string | null> {
		if (this.#recent.has(url)) {
			return null;
		}

		this.#recent.add(url);
		const {device, oplink} = this.#options;
		try {
			const deviceId = (await this.#attempt('device', device, null))?.deviceId;
			const link = await oplink.resolveUrl(url, {deviceId});
			return link === null ? url : targetOf(link);
		} catch (error) {
			this.#warn('oplink: the link cannot be opened', error);
			return null;
		} finally {
			this.#sleep(REPEAT_SECONDS).then(() => this.#recent.delete(url));
		}
	}

	/** The result of the app's own function, or `otherwise`. */
	async #attempt<T, O>(what: string, own: () => T | Promise<T>, otherwise: O): Promise<T | O> {
		try {
			return await own();
		} catch (error) {
			this.#warn(`oplink: ${what} failed`, error);
			return otherwise;
		}
	}

	/** The target; null if it may not be opened yet, and is held. */
	#allowed(target: string): string | null {
		try {
			if (this.#options.mayOpen?.(target) ?? true) {
				return target;
			}
		} catch (error) {
			this.#warn('oplink: mayOpen failed', error);
		}

		this.#hold(target);
		return null;
	}

	#hold(target: string): void {
		this.#held = [...this.#held.filter((one) => one !== target), target];
	}

	#offer(target: string): void {
		if (this.#open === null || !this.#isReady) {
			this.#hold(target);
		} else if (this.#allowed(target) !== null) {
			try {
				this.#open(target);
			} catch (error) {
				this.#warn('oplink: a link cannot be opened', error);
			}
		}
	}

	#flush(): void {
		for (const target of this.#held.splice(0)) {
			this.#offer(target);
		}
	}
}
