import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {addAbortSignal, type Readable} from 'node:stream';
import {text as readText} from 'node:stream/consumers';
import {Option} from 'commander';
import {inputError, usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {canAsk, openPrompts} from '../prompts.ts';
import {createClient} from '../server/admin-client.ts';
import {secretVariable, serverUrl, usableToken} from '../server/connection.ts';
import {endSignIn, signInByDevice} from '../server/device-login.ts';
import {isLoopback} from '../server/left-in-data-dir.ts';
import {findProfile, profileName, readProfiles, type SignIn, saveProfiles, withoutProfile} from '../server/profiles.ts';
import {type Io, writeMessage} from '../terminal/io.ts';

type NameOption = {name?: string};
type LoginOptions = NameOption & {tokenFile?: string; oidc?: boolean};

const DEFAULT_NAME = 'default';
const DEFAULT_URL = 'http://localhost:3000';
const LOGIN_HINT = 'Give --url URL, and the token by --token-file FILE, by OPLINK_ADMIN_TOKEN or on standard input';

/** The token from a file or standard input. @throws OperatorError if it cannot be read. */
const tokenIn = async (io: Io, file: string): Promise<string> => {
	const text =
		file === '-'
			? readText(addAbortSignal(io.interruption, io.stdin as Readable))
			: readFile(path.resolve(io.cwd, file), 'utf8');
	return (await text).trim();
};

/** The token from an option, the environment or, without a terminal, standard input. */
const givenToken = async ({io, options}: Context<LoginOptions>): Promise<string | undefined> => {
	const named =
		options.token ||
		(options.tokenFile ? await tokenIn(io, options.tokenFile) : secretVariable(io.env, 'OPLINK_ADMIN_TOKEN'));
	if (named !== undefined || io.stdin.isTTY) {
		return named;
	}

	// The note explains the wait, in case nothing writes to the pipe.
	await writeMessage(io, 'Reading the admin token from standard input');
	const piped = await tokenIn(io, '-');
	if (piped === '') {
		throw usageError('No admin token is given, and standard input is empty', LOGIN_HINT);
	}

	return piped;
};

/** The named values, else those entered at the prompts. @throws OperatorError if nobody can be asked. */
const urlAndToken = async (context: Context<LoginOptions>): Promise<{url: string; token: string; signIn?: SignIn}> => {
	const {io, options} = context;
	const givenUrl = options.url || io.env['OPLINK_URL'];
	if (!givenUrl && !canAsk(io)) {
		throw usageError('No server URL is given', LOGIN_HINT);
	}

	const known = await givenToken(context);
	if (known === undefined && !canAsk(io)) {
		throw usageError('No admin token is given, and there is no terminal to prompt on', LOGIN_HINT);
	}

	const prompts = givenUrl && known !== undefined ? null : openPrompts(io);
	try {
		// Validated one by one, so that nobody types a token for an invalid address.
		const url = serverUrl(givenUrl || (await prompts?.ask(`Server [${DEFAULT_URL}]: `)) || DEFAULT_URL);
		const token = known ?? (await prompts?.ask('Admin token (not shown): ', {hidden: true}));
		if (!token) {
			throw inputError('The token is empty');
		}

		return {url, token: usableToken(token)};
	} finally {
		prompts?.close();
	}
};

/** Signs in by the provider that the server names. @throws OperatorError if it names none. */
const byProvider = async ({io, options}: Context<LoginOptions>) => {
	const url = serverUrl(options.url || io.env['OPLINK_URL'] || DEFAULT_URL);
	const client = createClient({baseUrl: url, token: 'none', signal: io.interruption});
	const {providers} = await client.get<{providers: Array<{issuer: string; clientId: string}>}>('/sign-in');
	const [provider] = providers;
	if (provider === undefined) {
		throw inputError(`The server at ${url} names no provider with a clientId in OPERATOR_OIDC_FILE`);
	}

	const {token, signIn} = await signInByDevice(io, provider.issuer, provider.clientId);
	return {url, token, signIn};
};

export const loginCommand = command({
	usage: 'login',
	summary: 'Log in to a server and save it as a profile',
	about: 'The token is checked before it is saved.',
	examples: ['login --name production --url https://links.example.com', 'login --oidc --url https://links.example.com'],
	options: [
		new Option('--name <profile>', `profile name (default: '${DEFAULT_NAME}')`),
		new Option('--oidc', "log in with the server's identity provider, in a browser").conflicts('tokenFile'),
		new Option('--token-file <file>', 'file with the token; - is standard input, the default without a terminal'),
	],
	run: async (context: Context<LoginOptions>) => {
		const {io, options, show} = context;
		const name = profileName(options.name || options.profile || io.env['OPLINK_PROFILE'] || DEFAULT_NAME);
		const saved = readProfiles(io.env);
		const {url, token, signIn} = await (options.oidc ? byProvider(context) : urlAndToken(context));
		const client = createClient({baseUrl: url, token, signal: io.interruption});
		const {version} = await client.get<{version?: unknown}>('/admin/whoami');
		if (typeof version !== 'string') {
			throw inputError(`The server at ${url} is not an Oplink server`);
		}

		await saveProfiles(io.env, {
			...saved,
			current: name,
			byName: new Map(saved.byName).set(name, {name, url, token, ...(signIn && {signIn})}),
		});
		if (new URL(url).protocol === 'http:' && !isLoopback(url)) {
			await show.note('Warning: over http, anyone on the network path can read the token; use https');
		}

		await show.answer({name, url, version}, () => `Logged in to ${url} (Oplink ${version}) as profile '${name}'`);
	},
});

export const logoutCommand = command({
	usage: 'logout',
	summary: 'Remove the profile in use',
	examples: ['logout', 'logout --name staging'],
	options: [new Option('--name <profile>', 'profile to remove (default: the profile in use)')],
	run: async ({io, options, show}: Context<NameOption>) => {
		const profiles = readProfiles(io.env);
		const name = options.name || options.profile || io.env['OPLINK_PROFILE'] || profiles.current;
		if (!name) {
			throw usageError('No profile is in use', 'List the profiles: oplink profiles list');
		}

		const {signIn} = findProfile(profiles, name);
		await saveProfiles(io.env, withoutProfile(profiles, name));
		if (signIn !== undefined) {
			await endSignIn(signIn).catch((error: unknown) =>
				show.note(`The sign-in could not be ended at ${signIn.issuer}: ${(error as Error).message}`),
			);
		}

		await show.answer({name, removed: true}, () => `Removed profile '${name}'`);
	},
});

export const profileCommands: CommandGroup = {
	name: 'profiles',
	summary: 'Manage saved servers',
	commands: [
		command({
			usage: 'list',
			summary: 'List the saved profiles',
			examples: ['list'],
			run: async ({io, show}) => {
				const {current, byName} = readProfiles(io.env);
				const rows = [...byName.values()].map(({name, url}) => ({name, url, current: name === current}));
				await show.answer(rows, () =>
					show.table(
						[
							{title: 'PROFILE', value: ({name}) => name},
							{title: 'URL', value: ({url}) => url, flexible: true},
							{title: 'IN USE', value: (row) => row.current},
						],
						rows,
					),
				);
				if (rows.length === 0) {
					await show.note('There is no profile yet; oplink login creates one');
				}
			},
		}),

		command({
			usage: 'use <profile>',
			summary: 'Set the profile in use',
			examples: ['use production'],
			run: async ({io, show}, name: string) => {
				const profiles = readProfiles(io.env);
				const {url} = findProfile(profiles, name);
				await saveProfiles(io.env, {...profiles, current: name});
				await show.answer({name, url, current: true}, () => `Using profile '${name}': ${url}`);
			},
		}),

		command({
			usage: 'remove <profile>',
			summary: 'Remove a profile',
			examples: ['remove staging'],
			run: async ({io, show}, name: string) => {
				await saveProfiles(io.env, withoutProfile(readProfiles(io.env), name));
				await show.answer({name, removed: true}, () => `Removed profile '${name}'`);
			},
		}),
	],
};
