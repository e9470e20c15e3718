import {withoutEndingSlash} from '../../client/api-caller.ts';
import {readSecrets} from '../../platform/config/secrets.ts';
import {variables} from '../../platform/config/variables.ts';
import {exitCodes, missingCredential, OperatorError, usageError} from '../cli-errors.ts';
import type {Io} from '../terminal/io.ts';
import {type ApiClient, createClient} from './admin-client.ts';
import {dataDirOf, isLoopback, leftAddress, leftToken} from './left-in-data-dir.ts';
import {findProfile, type Profile, readProfiles} from './profiles.ts';

/** A credential of the environment, which a file may hold. @throws OperatorError if it is unusable. */
export const secretVariable = (
	env: Io['env'],
	name: 'ADMIN_TOKEN' | 'OPLINK_ADMIN_TOKEN' | 'OPLINK_API_KEY',
): string | undefined => {
	const {known, faults} = readSecrets(env, [name]);
	const [fault] = faults;
	if (fault !== undefined) {
		throw new OperatorError(fault, exitCodes.configuration, 'Correct the environment of this command');
	}

	return known.get(name)?.text;
};

/** The server that a command line names. */
type ServerOptions = {url?: string; token?: string; profile?: string};

export type ChosenServer = {
	/** The profile whose token is sent; null for one from elsewhere. @throws as `token`. */
	tokenProfile: () => string | null;
	/** Without a trailing slash. */
	baseUrl: string;
	/** Name of the profile with this address. */
	profile: string | null;
	/** Whether a server with this environment on this machine would have this address. */
	isOwn: boolean;
	/** The file that a server on this machine left the address in; null if it came from elsewhere. */
	addressFile: string | null;
	/** Note on the choice: the chosen server of two, or the reason why a file was not followed; null if there is none. */
	note: string | null;
	/** @throws OperatorError if no token is found. */
	token: () => string;
	/** For a credential that was given without the URL. @throws OperatorError if the address came from a file. */
	requireNamed: (credential: string) => void;
};

/** A URL for requests. @throws OperatorError unless it is http or https. */
export const serverUrl = (text: string): string => {
	if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
		throw usageError(`'${text}' is not an http or https URL`, 'Name the server with --url http://localhost:3000');
	}

	return withoutEndingSlash(text);
};

/** A token that fits into a header. The message does not repeat it. @throws OperatorError otherwise. */
export const usableToken = (token: string): string => {
	if (!/^[\x21-\x7e]+$/.test(token)) {
		throw usageError('The token contains a space or an invalid character', 'Copy only the token');
	}

	return token;
};

/** The two addresses of one server: a loopback name stands for any other. */
const isSame = (one: string, other: string): boolean =>
	one === other || (isLoopback(one) && isLoopback(other) && new URL(one).port === new URL(other).port);

type Address = {baseUrl: string; from?: Profile; addressFile?: string; note?: string};

/** A server as messages name it. */
export const nameOf = ({baseUrl, profile}: Pick<ChosenServer, 'baseUrl' | 'profile'>): string =>
	profile === null ? baseUrl : `${baseUrl} (profile '${profile}')`;

/** The server that somebody named: by option or environment, as a URL or as a profile. */
const explicitAddress = ({url, profile}: ServerOptions, env: Io['env']): Address | null => {
	const named = url || profile ? url : env['OPLINK_URL'];
	if (named) {
		return {baseUrl: serverUrl(named)};
	}

	const name = profile || env['OPLINK_PROFILE'];
	const from = name ? findProfile(readProfiles(env), name) : null;
	return from && {baseUrl: serverUrl(from.url), from};
};

/** The server that nobody named: this folder's or DATA_DIR's, the profile in use, the one of this environment. */
const impliedAddress = (io: Io): Address => {
	const {env} = io;
	const {byName, current} = readProfiles(env);
	const profile = byName.get(current ?? '');
	const port = Number(env['PORT']);
	const left = env['PUBLIC_URL'] || port ? null : leftAddress(io);
	const local: Address =
		left?.url === undefined
			? {
					baseUrl: serverUrl(env['PUBLIC_URL'] || `http://localhost:${port || variables.port.fallback}`),
					...(left && {note: left.fault}),
				}
			: {baseUrl: serverUrl(left.url), addressFile: left.file};
	if (profile === undefined) {
		return local;
	}

	const profiled = {baseUrl: serverUrl(profile.url), from: profile};
	const using = `Using ${nameOf({baseUrl: profiled.baseUrl, profile: profile.name})}`;
	if (isSame(local.baseUrl, profiled.baseUrl)) {
		return profiled;
	}

	if (local.addressFile !== undefined || env['DATA_DIR']) {
		const note = `Using the server of ${dataDirOf(env)}, ${local.baseUrl}; --profile ${profile.name} names ${profile.url}`;
		return {...local, note: [local.note, note].filter(Boolean).join('\n')};
	}

	return env['PUBLIC_URL'] || port
		? {...profiled, note: `${using}; --url ${local.baseUrl} names the server of this environment`}
		: {...profiled, ...(left && {note: `${left.fault}\n${using}`})};
};

/**
 * The server of a command line. Precedence: options, `--profile` among them; the environment, OPLINK_PROFILE last; the
 * server that left its address in DATA_DIR; the profile in use; the server with this environment. A token is sent only
 * to its own server: a profile's to its URL, the generated one to this machine. An address from a file gets the token
 * beside it alone, because the writer of the file chose the target of requests.
 * @throws OperatorError for an invalid URL or an unknown profile.
 */
export const chooseServer = (options: ServerOptions, io: Io): ChosenServer => {
	const {env} = io;
	const {baseUrl, from = null, addressFile = null, note = null} = explicitAddress(options, env) ?? impliedAddress(io);
	const isOwn = addressFile !== null || isLoopback(baseUrl) || baseUrl === withoutEndingSlash(env['PUBLIC_URL'] ?? '');
	const named = options.profile ? from : null;
	/** The default, read only if it is needed, so that a broken file does not affect explicit choices. */
	const impliedProfile = (): Profile | null => {
		const {byName, current} = readProfiles(env);
		return from ?? byName.get(env['OPLINK_PROFILE'] || (current ?? '')) ?? null;
	};
	const ofServer = (profile: Profile | null): Profile | null =>
		profile !== null && serverUrl(profile.url) === baseUrl ? profile : null;
	/** The profile whose token is sent unless one is given by option. */
	const usedProfile = (): Profile | null =>
		ofServer(named) ?? (secretVariable(env, 'OPLINK_ADMIN_TOKEN') ? null : ofServer(impliedProfile()));
	const requireNamed = (credential: string): void => {
		if (addressFile !== null) {
			throw usageError(`${credential} is not sent to an address from a file, ${addressFile}`, `Add --url ${baseUrl}`);
		}
	};
	const unsent =
		addressFile !== null && secretVariable(env, 'OPLINK_ADMIN_TOKEN')
			? `OPLINK_ADMIN_TOKEN is not sent to an address from a file, ${addressFile}: that gets the token beside it`
			: null;
	return {
		baseUrl,
		profile: from?.name ?? null,
		isOwn,
		addressFile,
		note: [note, unsent].filter(Boolean).join('\n') || null,
		requireNamed,
		tokenProfile: () => (options.token || addressFile !== null ? null : (usedProfile()?.name ?? null)),
		token: () => {
			if (options.token) {
				requireNamed('--token');
			}

			const token =
				addressFile === null
					? options.token ||
						usedProfile()?.token ||
						secretVariable(env, 'OPLINK_ADMIN_TOKEN') ||
						secretVariable(env, 'ADMIN_TOKEN') ||
						(isOwn ? leftToken(io) : null)
					: leftToken(io);
			if (!token) {
				throw missingCredential(
					'No admin token is given',
					addressFile === null
						? 'Log in with oplink login, or set OPLINK_ADMIN_TOKEN; a server without ADMIN_TOKEN keeps its own in DATA_DIR/admin-token'
						: `None is beside ${addressFile}: oplink login --url ${baseUrl}, or give --url or OPLINK_URL with the token`,
				);
			}

			return usableToken(token);
		},
	};
};

/** The options of every command (contract/operations 14). */
export type ConnectionOptions = ServerOptions & {json?: boolean; apiKey?: string};

/** Retries with a SERVER key (contract/sdk 8); an import has more patience than an interactive command. */
const MAX_RETRIES = 3;

/** Clients of the two surfaces, created on demand. */
export type Connection = {
	server: () => ChosenServer;
	/** The organization of commands that name none: OPLINK_ORG, else the one that `orgs use` chose for the server. */
	organization: () => string | null;
	/** The admin API. @throws OperatorError if no admin token is found. */
	admin: () => ApiClient;
	/** The link management API with the SERVER key; null without one. */
	key: () => ApiClient | null;
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
			return createClient({baseUrl, token: serverKey, signal, maxRetries: MAX_RETRIES, sleep: io.sleep});
		},
	};
};
