import {appUrl} from './app-path.ts';
import {IncomingLinks, type IncomingOptions} from './incoming-links.ts';
import {sleep as sleepByTimer} from './timer.ts';

export type {IncomingOptions, LinkClient} from './incoming-links.ts';

/** `Linking` of React Native, or expo-linking. */
export type SystemLinks = {
	getInitialURL(): Promise<string | null>;
	addEventListener(type: 'url', listener: (event: {url: string}) => void): unknown;
};

export type LinkingOptions = IncomingOptions & {
	Linking: SystemLinks;
	/** The app's own scheme, without `://`. */
	scheme: string;
};

/** In the form that React Navigation takes. */
export type Linking = {
	prefixes: string[];
	getInitialURL: () => Promise<string | null>;
	subscribe: (listener: (url: string) => void) => () => void;
};

/** How long the system may take to say which address started the app; some debuggers never get an answer. */
const SYSTEM_SECONDS = 1;

/**
 * Merges the system's links, the deferred one and held ones for React Navigation; links arrive as `SCHEME://path?params`.
 * Create it once, outside of components.
 * @returns `linking`, for `NavigationContainer`, whose `onReady` has to call `ready`.
 */
export const createLinking = ({Linking, scheme, ...options}: LinkingOptions): {linking: Linking; ready: () => void} => {
	const {sleep = sleepByTimer} = options;
	const links = new IncomingLinks(options);
	const addressOf = (target: string): string => (target.startsWith('/') ? appUrl(scheme, target.slice(1)) : target);
	Linking.addEventListener('url', ({url}) => {
		links.arrive(url);
	});

	const firstAddress = async (): Promise<string | null> => {
		const unknown = () => null;
		const asked = Linking.getInitialURL().catch(unknown);
		const target = await links.first(await Promise.race([asked, sleep(SYSTEM_SECONDS).then(unknown)]));
		return target === null ? null : addressOf(target);
	};

	let first: Promise<string | null> | null = null;
	return {
		linking: {
			prefixes: [`${scheme}://`],
			getInitialURL: () => {
				const answer = first ?? firstAddress();
				first = answer;
				// Shared by calls at the same time; a container that is shown again later starts with its own screen.
				answer.then(() => {
					first = Promise.resolve(null);
				});
				return answer;
			},
			subscribe: (listener) => links.openBy((target) => listener(addressOf(target))),
		},
		ready: () => links.ready(),
	};
};
