import {readFileSync} from 'node:fs';
import path from 'node:path';
import {variables} from '../../config/variables.ts';
import {missingCredential, usageError} from '../cli-errors.ts';
import type {Io} from '../terminal/io.ts';
import {findProfile, type Profile, readProfiles} from './profiles.ts';

/** How a command line names its server. */
export type ServerOptions = {url?: string; token?: string; profile?: string};

/** What decided: a flag, a variable, a profile, or nothing, which means the server of this machine. */
export type Origin = 'option' | 'environment' | 'profile' | 'machine';

export type ChosenServer = {
	/** Without a slash at its end. */
	baseUrl: string;
	origin: Origin;
	/** Name of the profile that its address is from. */
	profile: string | null;
	/** Whether a server with this environment on this machine would have this address. */
	isOwn: boolean;
	/** @throws OperatorError where no token is to be found. */
	token: () => string;
};

/** A URL as requests take it. @throws OperatorError for what is not an http or https URL. */
export const serverUrl = (text: string): string => {
	if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
		throw usageError(`'${text}' is not an http or https URL`, 'Name the server with --url http://localhost:3000');
	}

	return text.replace(/(?<!\/)\/+$/, '');
};

/** A token that fits into a header. The words do not repeat it. @throws OperatorError otherwise. */
export const usableToken = (token: string): string => {
	if (!/^[\x21-\x7e]+$/.test(token)) {
		throw usageError('The token contains a space or an invalid character', 'Copy only the token');
	}

	return token;
};

/** Whether the URL is this machine by name or number. */
export const isLoopback = (url: string): boolean =>
	/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/i.test(new URL(url).hostname);

/** What the server on this machine generated. */
const generatedToken = ({env, cwd}: Io): string | null => {
	try {
		return (
			readFileSync(path.resolve(cwd, env['DATA_DIR'] || variables.dataDir.fallback, 'admin-token'), 'utf8').trim() ||
			null
		);
	} catch {
		// Unreadable is as good as absent: the message says which ways there are to name a token.
		return null;
	}
};

/**
 * The server of a command line. What is nearer wins: options, `--profile` among them; the environment, OPLINK_PROFILE
 * last; the profile in use; the server that listens on this machine with this environment. A token goes only where it
 * belongs: that of a profile to its URL, the generated one to this machine.
 * @throws OperatorError for a URL that is none or a profile that is not there.
 */
export const chooseServer = (options: ServerOptions, io: Io): ChosenServer => {
	const {env} = io;
	const named = options.profile ? findProfile(readProfiles(env), options.profile) : null;
	/** What is to be used where nothing nearer is named; read only then, so that a broken file hinders nobody else. */
	const impliedProfile = (): Profile | null => {
		const profiles = readProfiles(env);
		const name = env['OPLINK_PROFILE'] || profiles.current;
		return named ?? (name ? findProfile(profiles, name) : null);
	};

	const address = (): Pick<ChosenServer, 'baseUrl' | 'origin'> & {from: Profile | null} => {
		if (options.url || named) {
			return {
				baseUrl: serverUrl(options.url || (named?.url ?? '')),
				origin: 'option',
				from: options.url ? null : named,
			};
		}

		if (env['OPLINK_URL']) {
			return {baseUrl: serverUrl(env['OPLINK_URL']), origin: 'environment', from: null};
		}

		const profile = impliedProfile();
		if (profile) {
			const origin = env['OPLINK_PROFILE'] ? 'environment' : 'profile';
			return {baseUrl: serverUrl(profile.url), origin, from: profile};
		}

		const port = Number(env['PORT']) || variables.port.fallback;
		return {baseUrl: serverUrl(env['PUBLIC_URL'] || `http://localhost:${port}`), origin: 'machine', from: null};
	};

	const {baseUrl, origin, from} = address();
	const isOwn = isLoopback(baseUrl) || baseUrl === env['PUBLIC_URL']?.replace(/(?<!\/)\/+$/, '');
	const tokenOf = (profile: Profile | null): string | null =>
		profile !== null && serverUrl(profile.url) === baseUrl ? profile.token : null;
	return {
		baseUrl,
		origin,
		profile: from?.name ?? null,
		isOwn,
		token: () => {
			const token =
				options.token ||
				tokenOf(named) ||
				env['OPLINK_ADMIN_TOKEN'] ||
				tokenOf(impliedProfile()) ||
				env['ADMIN_TOKEN'] ||
				(isOwn ? generatedToken(io) : null);
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
