import {IncomingLinks, type IncomingOptions} from './incoming-links.ts';

export type {IncomingOptions, LinkClient} from './incoming-links.ts';

export type NativeIntentOptions = IncomingOptions & {
	/** Opens a link that arrives after the first screen, or was held: `(path) => router.push(path)`. */
	open: (path: string) => void;
};

export type NativeIntent = {
	/** For `app/+native-intent.ts`. It never throws. */
	redirectSystemPath: (event: {path: string; initial: boolean}) => Promise<string | null>;
	/** Opens the held links. Call it when the router is shown, and when somebody has signed in. */
	ready: () => void;
};

/** Merges the system's links, the deferred one and held ones for Expo Router. Create it once, outside of components. */
export const createNativeIntent = ({open, ...options}: NativeIntentOptions): NativeIntent => {
	const links = new IncomingLinks(options);
	links.openBy(open);
	return {
		redirectSystemPath: async ({path, initial}) => (initial ? ((await links.first(path)) ?? '/') : links.next(path)),
		ready: () => links.ready(),
	};
};
