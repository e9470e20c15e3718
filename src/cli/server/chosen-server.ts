import {readFileSync} from 'node:fs';
import path from 'node:path';
import {withoutEndingSlash} from '../../client/api-caller.ts';
import {variables} from '../../platform/config/variables.ts';
import {ADDRESS_FILE} from '../../start/own-address.ts';
import {missingCredential, usageError} from '../cli-errors.ts';
import type {Io} from '../terminal/io.ts';
import {findProfile, type Profile, readProfiles} from './profiles.ts';

/** The server that a command line names. */
export type ServerOptions = {url?: string; token?: string; profile?: string};

export type ChosenServer = {
	/** The profile whose token is sent; null for one from elsewhere. @throws as `token`. */
	tokenProfile: () => string | null;
	/** Without a trailing slash. */
	baseUrl: string;
	/** Name of the profile with this address. */
	profile: string | null;
	/** Whether a server with this environment on this machine would have this address. */
	isOwn: boolean;
	/** The file that a server on this machine left the address in; null where it came from elsewhere. */
	addressFile: string | null;
	/** @throws OperatorError if no token is found. */
	token: () => string;
};

const dataDirOf = (env: Io['env']): string => env['DATA_DIR'] || variables.dataDir.fallback;

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

/** Whether the URL names this machine. */
export const isLoopback = (url: string): boolean =>
	/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/i.test(new URL(url).hostname);

/** The first line that servers on this machine left in a file of their DATA_DIR; an unreadable one counts as absent. */
const leftInDataDir = ({env, cwd}: Io, name: string): string | null => {
	try {
		return (
			readFileSync(path.resolve(cwd, dataDirOf(env), name), 'utf8')
				.trim()
				.split('\n', 1)[0] || null
		);
	} catch {
		return null;
	}
};

/** Where the server on this machine listens, as it said itself. */
const leftAddress = (io: Io): string | null => {
	const url = leftInDataDir(io, ADDRESS_FILE);
	return url !== null && URL.canParse(url) && new URL(url).protocol === 'http:' ? url : null;
};

/**
 * The server of a command line. Precedence: options, `--profile` among them; the environment, OPLINK_PROFILE last; the
 * profile in use; the server that listens on this machine with this environment, or left its address in DATA_DIR. A token is sent only to its own
 * server: a profile's to its URL, the generated one to this machine.
 * @throws OperatorError for an invalid URL or an unknown profile.
 */
export const chooseServer = (options: ServerOptions, io: Io): ChosenServer => {
	const {env} = io;
	const named = options.profile ? findProfile(readProfiles(env), options.profile) : null;
	/** The default, read only if it is needed, so that a broken file does not affect explicit choices. */
	const impliedProfile = (): Profile | null => {
		const profiles = readProfiles(env);
		const name = env['OPLINK_PROFILE'] || profiles.current;
		return named ?? (name ? findProfile(profiles, name) : null);
	};

	const address = (): {baseUrl: string; from?: Profile; addressFile?: string} => {
		const url = options.url || (named === null && env['OPLINK_URL']);
		const profile = url ? null : impliedProfile();
		if (url || profile) {
			return profile ? {baseUrl: serverUrl(profile.url), from: profile} : {baseUrl: serverUrl(url || '')};
		}

		const port = Number(env['PORT']);
		const left = env['PUBLIC_URL'] || port ? null : leftAddress(io);
		return left === null
			? {baseUrl: serverUrl(env['PUBLIC_URL'] || `http://localhost:${port || variables.port.fallback}`)}
			: {baseUrl: serverUrl(left), addressFile: path.join(dataDirOf(env), ADDRESS_FILE)};
	};

	const {baseUrl, from = null, addressFile = null} = address();
	const isOwn = addressFile !== null || isLoopback(baseUrl) || baseUrl === withoutEndingSlash(env['PUBLIC_URL'] ?? '');
	const tokenOf = (profile: Profile | null): string | null =>
		profile !== null && serverUrl(profile.url) === baseUrl ? profile.token : null;
	return {
		baseUrl,
		profile: from?.name ?? null,
		isOwn,
		addressFile,
		tokenProfile: () => {
			if (options.token) {
				return null;
			}

			const used = tokenOf(named) ? named : env['OPLINK_ADMIN_TOKEN'] ? null : impliedProfile();
			return tokenOf(used) ? (used?.name ?? null) : null;
		},
		token: () => {
			const token =
				options.token ||
				tokenOf(named) ||
				env['OPLINK_ADMIN_TOKEN'] ||
				tokenOf(impliedProfile()) ||
				env['ADMIN_TOKEN'] ||
				(isOwn ? leftInDataDir(io, 'admin-token') : null);
			if (!token) {
				throw missingCredential(
					'No admin token is given',
					'Log in with oplink login, or set OPLINK_ADMIN_TOKEN; a server without ADMIN_TOKEN keeps its own in DATA_DIR/admin-token',
				);
			}

			return usableToken(token);
		},
	};
};
