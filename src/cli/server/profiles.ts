import {readFileSync} from 'node:fs';
import {chmod, mkdir} from 'node:fs/promises';
import path from 'node:path';
import {inputError, notFoundError, usageError} from '../cli-errors.ts';
import {isOrganization} from '../leading-organization.ts';
import {replaceFile} from '../replace-file.ts';
import type {Io} from '../terminal/io.ts';

/** A server that the operator logged in to. */
export type Profile = {
	name: string;
	url: string;
	token: string;
	/** Present if a provider signed the operator in: the token then expires, and is renewed. */
	signIn?: SignIn;
};

/** The provider and the client of a sign-in, and the refresh token that renews its token. */
export type SignIn = {issuer: string; clientId: string; refreshToken: string | null; expiresAt: string};

/** The saved data: profiles by name, the one in use, and organizations. */
type Profiles = {
	current: string | null;
	byName: Map<string, Profile>;
	/** The organization that `orgs use` chose, by the URL of its server. */
	organizations: Readonly<Record<string, string>>;
};

type Env = Io['env'];
type File = {current?: unknown; profiles?: unknown; organizations?: unknown};

const noFolder = () => inputError('There is no folder to save a profile in: HOME and XDG_CONFIG_HOME are not set');

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** The given name. @throws OperatorError if it is invalid. */
export const profileName = (name: string): string => {
	if (!NAME.test(name)) {
		throw usageError(`'${name}' is not a valid profile name`, 'Use letters, digits, dots, hyphens and underscores');
	}

	return name;
};

/**
 * The file of profiles: `oplink/profiles.json` in the XDG config folder (its specification says to ignore a relative
 * one). Null if the environment names neither that nor a home.
 */
const profilesFile = (env: Env): string | null => {
	const named = env['XDG_CONFIG_HOME'];
	const home = env['HOME'];
	const folder = named && path.isAbsolute(named) ? named : home ? path.join(home, '.config') : null;
	return folder === null ? null : path.join(folder, 'oplink', 'profiles.json');
};

/** The file of profiles, for a lock beside it. @throws OperatorError without a folder for it. */
export const profilesPath = (env: Env): string => {
	const file = profilesFile(env);
	if (file === null) {
		throw noFolder();
	}

	return file;
};

const isSignIn = (value: unknown): value is SignIn => {
	const {issuer, clientId, refreshToken, expiresAt} = (value ?? {}) as Record<string, unknown>;
	return (
		typeof issuer === 'string' &&
		URL.canParse(issuer) &&
		typeof clientId === 'string' &&
		(refreshToken === null || typeof refreshToken === 'string') &&
		typeof expiresAt === 'string'
	);
};

const isProfile = (entry: [string, unknown]): entry is [string, Omit<Profile, 'name'>] => {
	const {url, token, signIn} = (entry[1] ?? {}) as {url?: unknown; token?: unknown; signIn?: unknown};
	return (
		(signIn === undefined || isSignIn(signIn)) &&
		NAME.test(entry[0]) &&
		typeof url === 'string' &&
		URL.canParse(url) &&
		typeof token === 'string'
	);
};

/** The saved profiles; none if there is no file yet. @throws OperatorError for an invalid file. */
export const readProfiles = (env: Env): Profiles => {
	const file = profilesFile(env);
	const nothing: Profiles = {current: null, byName: new Map(), organizations: {}};
	if (file === null) {
		return nothing;
	}

	let text: string;
	try {
		text = readFileSync(file, 'utf8');
	} catch (error) {
		if ((error as {code?: string}).code === 'ENOENT') {
			return nothing;
		}

		throw inputError(`The profiles cannot be read: ${(error as Error).message}`);
	}

	try {
		const {current, profiles, organizations} = JSON.parse(text) as File;
		const entries = Object.entries(profiles as Record<string, unknown>);
		if (!entries.every(isProfile)) {
			throw new Error('a profile without URL and token');
		}

		const byName = new Map(
			entries.map(([name, {url, token, signIn}]) => [name, {name, url, token, ...(signIn && {signIn})}]),
		);
		return {
			current: typeof current === 'string' && byName.has(current) ? current : null,
			byName,
			organizations: Object.fromEntries(
				Object.entries(organizations ?? {}).filter(([, org]) => typeof org === 'string' && isOrganization(org)),
			),
		};
	} catch {
		// Without the parser's message, which quotes the text and could reveal a token.
		throw inputError(`${file} contains no valid profiles: fix it, or remove it and log in again`);
	}
};

/** Saves all profiles atomically: folder 0700, file 0600. */
export const saveProfiles = async (env: Env, {current, byName, organizations}: Profiles): Promise<void> => {
	const file = profilesPath(env);
	const folder = path.dirname(file);
	const profiles = Object.fromEntries([...byName].map(([name, {url, token, signIn}]) => [name, {url, token, signIn}]));
	const saved = {current, profiles, ...(Object.keys(organizations).length > 0 && {organizations})};
	try {
		await mkdir(folder, {recursive: true, mode: 0o700});
		// An existing folder keeps its mode otherwise.
		await chmod(folder, 0o700);
		await replaceFile(file, (handle) => handle.writeFile(`${JSON.stringify(saved, null, '\t')}\n`));
	} catch (error) {
		throw inputError(`The profile cannot be saved: ${(error as Error).message}`);
	}
};

/** The profile of a name. @throws OperatorError if it does not exist. */
export const findProfile = ({byName}: Profiles, name: string): Profile => {
	const profile = byName.get(name);
	if (profile === undefined) {
		throw notFoundError(`There is no profile '${name}'`, 'oplink profiles list shows them; oplink login creates one');
	}

	return profile;
};

/** Deletes a profile. @returns the remaining ones. @throws OperatorError if it does not exist. */
export const withoutProfile = (profiles: Profiles, name: string): Profiles => {
	findProfile(profiles, name);
	const byName = new Map(profiles.byName);
	byName.delete(name);
	return {...profiles, current: profiles.current === name ? null : profiles.current, byName};
};
