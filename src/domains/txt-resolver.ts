import {Resolver} from 'node:dns/promises';

/** The values of a name's TXT records; none where the name or the record type does not exist. */
export type TxtResolver = (name: string) => Promise<string[]>;

/** A name server may have to ask others first, and datagrams get lost. */
const PATIENCE = {timeout: 5000, tries: 2};

const NOTHING_THERE = new Set(['ENODATA', 'ENOTFOUND']);

/**
 * @param servers addresses of resolvers, with a port where it is not 53; empty: the system's.
 * @returns a resolver that rejects where the lookup itself failed (timeout, SERVFAIL, refused).
 */
export const createTxtResolver = (servers: readonly string[]): TxtResolver => {
	return async (name) => {
		// A resolver of its own for each look-up: one that is kept expects a server to be as quick as it was before.
		const resolver = new Resolver(PATIENCE);
		if (servers.length > 0) {
			resolver.setServers([...servers]);
		}

		try {
			const records = await resolver.resolveTxt(name);
			// One record may come in several strings, which belong together (RFC 7208, 3.3, as everybody reads TXT).
			return records.map((strings) => strings.join(''));
		} catch (error) {
			if (NOTHING_THERE.has((error as {code?: string}).code ?? '')) {
				return [];
			}

			throw error;
		}
	};
};
