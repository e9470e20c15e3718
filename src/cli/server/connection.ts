import {type Links, Oplink} from '../../client/oplink.ts';
import type {Io} from '../terminal/io.ts';
import {type ApiClient, createClient, endedBy, TIMEOUT_SECONDS} from './admin-client.ts';
import {type ChosenServer, chooseServer, type ServerOptions} from './chosen-server.ts';
import {readProfiles} from './profiles.ts';
import {secretVariable} from './secret-variable.ts';

/** The options of every command (contract/operations 14). */
export type ConnectionOptions = ServerOptions & {json?: boolean; apiKey?: string};

/** Link management with a SERVER key; `client` is for answers that are not JSON. */
export type KeyClients = {links: Links; client: ApiClient};

/** Retries of the client; an import has more patience than an interactive command. */
const MAX_RETRIES = 3;

/** Clients of the two surfaces, created on demand. */
export type Connection = {
	server: () => ChosenServer;
	/** The organization of commands that name none: OPLINK_ORG, else the one that `orgs use` chose for the server. */
	organization: () => string | null;
	/** The admin API. @throws OperatorError if no admin token is found. */
	admin: () => ApiClient;
	/** The link management API with the SERVER key; null without one. */
	key: () => KeyClients | null;
};

export const createConnection = (options: ConnectionOptions, io: Io): Connection => {
	const signal = io.interruption;
	return {
		server: () => chooseServer(options, io),
		organization: () =>
			io.env['OPLINK_ORG'] || readProfiles(io.env).organizations[chooseServer(options, io).baseUrl] || null,
		admin: () => {
			const {baseUrl, token} = chooseServer(options, io);
			return createClient({baseUrl, token: token(), signal});
		},
		key: () => {
			const serverKey = options.apiKey || secretVariable(io.env, 'OPLINK_API_KEY');
			if (!serverKey) {
				return null;
			}

			const {baseUrl, requireNamed} = chooseServer(options, io);
			requireNamed('A SERVER key');
			const {links} = new Oplink({
				baseUrl,
				serverKey,
				fetch: endedBy(signal),
				sleep: io.sleep,
				timeoutSeconds: TIMEOUT_SECONDS,
				maxRetries: MAX_RETRIES,
			});
			return {links, client: createClient({baseUrl, token: serverKey, signal})};
		},
	};
};
