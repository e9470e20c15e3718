import {readFileSync} from 'node:fs';
import path from 'node:path';
import {type Links, Oplink} from '../client/oplink.ts';
import {type ApiClient, createClient, endedBy} from './admin-client.ts';
import {missingCredential, usageError} from './cli-errors.ts';
import type {Io} from './io.ts';

/** The options of every command (decisions 12). */
export type ConnectionOptions = {json?: boolean; url?: string; token?: string; apiKey?: string};

const isLoopback = (url: URL): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/i.test(url.hostname);

/** Base URL without a slash at its end: what is named, else where a server with this environment listens. */
const baseUrlOf = (options: ConnectionOptions, env: Io['env']): string => {
	const port = Number(env['PORT']) || 3000;
	const text = options.url || env['OPLINK_URL'] || env['PUBLIC_URL'] || `http://localhost:${port}`;
	if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
		throw usageError(`'${text}' is no http or https URL`, 'Name the server with --url http://localhost:3000');
	}

	return text.replace(/\/+$/, '');
};

/**
 * The token that the server on this machine generated. It is offered to this machine alone: another host has no use for
 * it but to keep it.
 */
const generatedToken = (baseUrl: string, {env, cwd}: Io): string | null => {
	if (!isLoopback(new URL(baseUrl)) && baseUrl !== env['PUBLIC_URL']?.replace(/\/+$/, '')) {
		return null;
	}

	try {
		return readFileSync(path.resolve(cwd, env['DATA_DIR'] || './data', 'admin-token'), 'utf8').trim() || null;
	} catch {
		// Unreadable is as good as absent: the message says which ways there are to name a token.
		return null;
	}
};

/** Link management with a SERVER key; `client` is for what answers no JSON. */
export type KeyClients = {links: Links; client: ApiClient};

/** Tries after the first one, of which the import needs some more than a caller who waits. */
const MAX_RETRIES = 3;
const TIMEOUT_SECONDS = 60;

/** Clients of the two surfaces, made when a command asks for one. */
export type Connection = {
	/** The admin API. @throws OperatorError where no admin token is to be found. */
	admin: () => ApiClient;
	/** The link management API with the SERVER key, or null where none is given. */
	key: () => KeyClients | null;
};

/** @see Connection */
export const createConnection = (options: ConnectionOptions, io: Io): Connection => {
	const signal = io.interruption;
	const clientOf = (baseUrl: string, token: string) =>
		createClient({baseUrl, token, signal, timeoutSeconds: TIMEOUT_SECONDS});
	return {
		admin: () => {
			const baseUrl = baseUrlOf(options, io.env);
			const token =
				options.token || io.env['OPLINK_ADMIN_TOKEN'] || io.env['ADMIN_TOKEN'] || generatedToken(baseUrl, io);
			if (!token) {
				throw missingCredential(
					'No admin token is given',
					'Give --token or OPLINK_ADMIN_TOKEN; a server without ADMIN_TOKEN keeps its own in DATA_DIR/admin-token',
				);
			}

			return clientOf(baseUrl, token);
		},
		key: () => {
			const serverKey = options.apiKey || io.env['OPLINK_API_KEY'];
			if (!serverKey) {
				return null;
			}

			const baseUrl = baseUrlOf(options, io.env);
			const {links} = new Oplink({
				baseUrl,
				serverKey,
				fetch: endedBy(signal),
				sleep: io.sleep,
				timeoutSeconds: TIMEOUT_SECONDS,
				maxRetries: MAX_RETRIES,
			});
			return {links, client: clientOf(baseUrl, serverKey)};
		},
	};
};
