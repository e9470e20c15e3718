import {queryText} from './api-caller.ts';
import {appPathOf} from './app-path.ts';
import {guardedLog} from './guarded-log.ts';
import type {LinkData} from './link-shapes.ts';
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
	 * Whether this may be opened now, such as `() => session.isSignedIn`. What may not is held until `ready` is called.
	 * `target` is `/path?params` for a link, and any other address as it came.
	 */
	mayOpen?: ((target: string) => boolean) | undefined;
	/** How long the first screen waits for its link; default 3. A link that comes later is opened all the same. */
	waitSeconds?: number | undefined;
	/** Receives errors that are not thrown. Default: console.warn. */
	log?: ((message: string, error: unknown) => void) | undefined;
	/** Waits; replaced by tests. */
	sleep?: ((seconds: number) => Promise<unknown>) | undefined;
};

/** Systems report an address that opened the app more than once. The same one again within this time is the same tap. */
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
 * Merges what opens an app: the address of a cold start, those of warm starts, and the deferred link. Each is opened
 * once: as the first screen if it is known in time, else by `open`, after `ready` was called.
 */
export const createIncomingLinks = ({
	oplink,
	device,
	tokens = () => ({}),
	mayOpen = () => true,
	waitSeconds = 3,
	log = console.warn,
	sleep = sleepByTimer,
}: IncomingOptions) => {
	const warn = guardedLog(log);
	const recent = new Set<string>();
	let held: string[] = [];
	let open: ((target: string) => void) | null = null;
	let isReady = false;
	let isOpenedByLink = false;
	/** Ends the wait of the first screen. */
	let settle: ((target: string | null) => void) | null = null;
	const deferred = new Promise<string | null>((resolve) => {
		settle = (target) => {
			settle = null;
			resolve(target);
		};
	});

	/** The result of the app's own function, or `otherwise`. */
	const attempt = async <T, O>(what: string, own: () => T | Promise<T>, otherwise: O): Promise<T | O> => {
		try {
			return await own();
		} catch (error) {
			warn(`oplink: ${what} failed`, error);
			return otherwise;
		}
	};

	const isAllowed = (target: string): boolean => {
		try {
			return mayOpen(target);
		} catch (error) {
			warn('oplink: mayOpen failed', error);
			return false;
		}
	};

	const hold = (target: string): void => {
		held = [...held.filter((one) => one !== target), target];
	};

	const offer = (target: string): void => {
		if (open === null || !isReady || !isAllowed(target)) {
			hold(target);
			return;
		}

		try {
			open(target);
		} catch (error) {
			warn('oplink: a link cannot be opened', error);
		}
	};

	const flush = (): void => {
		for (const target of held.splice(0)) {
			offer(target);
		}
	};

	oplink.onLink((link) => {
		// Somebody who opened the app by a link wants that one.
		if (!isOpenedByLink) {
			(settle ?? offer)(targetOf(link));
		}
	});

	const start = async (): Promise<void> => {
		const [own, found] = [await attempt('device', device, null), await attempt('tokens', tokens, {})];
		await (own && attempt('start', () => oplink.start({...own, ...found}), undefined));
		settle?.(null);
	};

	/** The content that an address opens; null if its link cannot be resolved, or if the address is repeated. */
	const read = async (url: string): Promise<string | null> => {
		if (recent.has(url)) {
			return null;
		}

		recent.add(url);
		try {
			const deviceId = (await attempt('device', device, null))?.deviceId;
			const link = await oplink.resolveUrl(url, {deviceId});
			return link === null ? url : targetOf(link);
		} catch (error) {
			warn('oplink: the link cannot be opened', error);
			return null;
		} finally {
			sleep(REPEAT_SECONDS).then(() => recent.delete(url));
		}
	};

	return {
		/** The first screen's target, of the address that started the app; null if there is none yet. */
		first: async (url: string | null): Promise<string | null> => {
			const isByLink = url !== null && !isStart(url) && !recent.has(url);
			isOpenedByLink = !isStart(url);
			start();
			const target = isByLink ? read(url) : deferred;
			if (isByLink) {
				// A tap that was reported before this call is another link's.
				deferred.then((other) => other !== null && offer(other));
				settle = null;
			}

			let isLate = false;
			const limit = sleep(waitSeconds).then(() => {
				isLate = true;
				settle = null;
				return null;
			});
			target.then((late) => isLate && late !== null && offer(late));
			const found = await Promise.race([target, limit]);
			settle = null;
			if (found !== null && !isAllowed(found)) {
				hold(found);
				return null;
			}

			return found;
		},
		/** The content that an address opens in the running app; null if it opens none or is held. */
		next: async (url: string): Promise<string | null> => {
			const target = isStart(url) ? url : await read(url);
			if (target === null || isStart(url) || isAllowed(target)) {
				return target;
			}

			hold(target);
			return null;
		},
		/** Opens what an address leads to by `open`. */
		arrive: async (url: string): Promise<void> => {
			const target = isStart(url) ? null : await read(url);
			if (target !== null) {
				(settle ?? offer)(target);
			}
		},
		/** Opens links from now on by `listener`. @returns a function that ends this. */
		openBy: (listener: (target: string) => void): (() => void) => {
			open = listener;
			flush();
			return () => {
				open = open === listener ? null : open;
			};
		},
		/** Opens what was held: screens are shown, or somebody has signed in. Call it at each such moment. */
		ready: (): void => {
			isReady = true;
			flush();
		},
	};
};
