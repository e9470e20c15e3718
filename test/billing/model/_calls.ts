import type {DirectFetch} from '../../fakes/gateway/http-server.ts';

const overTheNetwork = globalThis.fetch;
const direct = new Map<string, DirectFetch>();

/** Lets calls to a fake of this process go without sockets. @returns what undoes it. */
export const callDirectly = ({url, fetch}: {url: string; fetch: DirectFetch}): (() => void) => {
	direct.set(url, fetch);
	globalThis.fetch = (input, init) => {
		const call = direct.get(new URL(String(input)).origin) ?? overTheNetwork;
		return call(input, init);
	};
	return () => {
		direct.delete(url);
		if (direct.size === 0) {
			globalThis.fetch = overTheNetwork;
		}
	};
};
