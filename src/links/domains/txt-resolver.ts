import {Resolver} from 'node:dns/promises';

/** The values of a name's TXT records; none if the name or the record type does not exist. */
type TxtResolver = (name: string) => Promise<string[]>;

/** A name server may have to query others first, and datagrams get lost. */
const PATIENCE = {timeout: 5000, tries: 2};

const NO_RECORD_CODES = new Set(['ENODATA', 'ENOTFOUND']);

/**
 * @param servers addresses of resolvers, with a port unless it is 53; empty for the system's.
 * @returns a resolver that rejects if the lookup failed (timeout, SERVFAIL, refused).
 */
export const createTxtResolver = (servers: readonly string[]): TxtResolver => {
	return async (name) => {
		// A new resolver per lookup: a reused one adapts its timeout to the server's earlier speed.
		const resolver = new Resolver(PATIENCE);
		if (servers.length > 0) {
			resolver.setServers([...servers]);
		}

		try {
			const records = await resolver.resolveTxt(name);
			// The strings of one record are concatenated (RFC 7208, 3.3, as is usual for TXT).
			return records.map((strings) => strings.join(''));
		} catch (error) {
			if (NO_RECORD_CODES.has((error as {code?: string}).code ?? '')) {
				return [];
			}

			throw error;
		}
	};
};
