import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {text as readAll} from 'node:stream/consumers';
import {InvalidArgumentError, Option} from 'commander';
import {isObject} from '../../links/links/import/canonical-json.ts';
import type {AppStatusOptions} from '../app/app-status.ts';
import type {AppFiles} from '../app/check-app.ts';
import {appKit, type Platform, platforms} from '../app/snippets.ts';
import {inputError, usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {createReport, strictOption} from '../doctor/report.ts';
import {jsonFault} from '../json-fault.ts';
import {givesPlatforms, type LinkFieldOptions, platformOptions, withPlatforms} from '../link-fields.ts';
import {resource} from '../resource.ts';
import {organizationApi} from '../server/link-surface.ts';
import type {Io} from '../terminal/io.ts';

const readJson = async (io: Io, file: string): Promise<unknown> => {
	const content = file === '-' ? await readAll(io.stdin) : await readFile(path.resolve(io.cwd, file), 'utf8');
	const text = content.replace(/^\uFEFF/, '');
	try {
		return JSON.parse(text);
	} catch (error) {
		const {line, reason} = jsonFault(text, error);
		throw inputError(`${file === '-' ? 'Standard input' : file} is not valid JSON in line ${line + 1}: ${reason}`);
	}
};

/** An organization's apps on both systems, to be filled in. */
const EXAMPLE = {
	ios: {teamId: 'ABCDE12345', bundleId: 'com.acme.shop.ios', appStoreId: '123456789', scheme: 'acmeshop'},
	android: [
		{
			packageName: 'com.acme.shop',
			sha256Fingerprints: [Array.from({length: 32}, (_, index) => (index + 16).toString(16).toUpperCase()).join(':')],
			scheme: 'acmeshop',
		},
	],
	fallbackUrl: 'https://www.acme.example/',
};

type SetOptions = {file?: string; errorPages?: boolean} & LinkFieldOptions;

export const appConfigCommands: CommandGroup = {
	name: 'app-config',
	summary: 'Manage the app configuration',
	commands: [
		resource({path: 'app-config'}).request({
			usage: 'show [org]',
			route: 'GET',
			summary: 'Print the app configuration as JSON',
			about: 'app-config set accepts the output.',
			examples: ['show', 'show --org Ab12 > app-config.json'],
			text: (config) => JSON.stringify(config, null, 2),
		}),

		command({
			usage: 'example',
			summary: 'Print an example app configuration',
			about: 'Fill it in, and omit the system that the app does not support.',
			examples: ['example > app-config.json'],
			run: async ({show}) => show.answer(EXAMPLE, (config) => JSON.stringify(config, null, 2)),
		}),

		command({
			usage: 'set [org]',
			summary: 'Replace or change the app configuration',
			about: '--file replaces the configuration; the other options change single fields.',
			examples: [
				'set --file app-config.json --org Ab12',
				'set --destination desktop=https://www.example.com --minimum-version ios=2.10.0',
			],
			options: [
				new Option('--file <file>', 'JSON file, or - for standard input (default: the current configuration)'),
				...platformOptions(),
				new Option('--error-pages', 'show people a page if a link does not exist or is gone'),
				new Option('--no-error-pages', 'answer JSON instead'),
			],
			run: async (context: Context<SetOptions>) => {
				const {io, options, show} = context;
				const {file, errorPages} = options;
				if (file === undefined && !givesPlatforms(options) && errorPages === undefined) {
					throw usageError('Nothing to set', 'Give --file, or the fields to change');
				}

				const {client, path: organization} = await organizationApi(context);
				const url = `${organization}/app-config`;
				const base = await (file === undefined ? client.get(url) : readJson(io, file));
				// Anything else than an object is the server's to refuse.
				const body = isObject(base)
					? {...withPlatforms(base, options), ...(errorPages === undefined ? {} : {errorPages})}
					: base;
				const config = await client.put<object>(url, body);
				await show.answer(config, () => JSON.stringify(config, null, 2));
			},
		}),
	],
};

type CheckOptions = AppFiles & {fingerprint?: string[]; host?: string[]; strict?: boolean};

const HEX_BYTES = /^[0-9A-F]{64}$/;

/** A SHA-256 fingerprint in the form of the app configuration. */
const fingerprint = (text: string, before: string[] = []): string[] => {
	const hex = text.replaceAll(':', '').toUpperCase();
	if (!HEX_BYTES.test(hex)) {
		throw new InvalidArgumentError('It must be a SHA-256 fingerprint of 32 bytes in hexadecimal.');
	}

	return [...before, hex.match(/../g)?.join(':') ?? ''];
};

const since = (text: string): string => {
	if (!/^\d+[hd]$/.test(text)) {
		throw new InvalidArgumentError('It must be a number of hours or days, such as 12h or 7d.');
	}

	return text;
};

const check = async (context: Context<CheckOptions>): Promise<number> => {
	const {io, options} = context;
	const {android, ios, info, expo, fingerprint: fingerprints = []} = options;
	if ([android, ios, info, expo].every((file) => file === undefined) && fingerprints.length === 0) {
		throw usageError('No file of an app is given', 'Give --android, --ios, --info or --expo');
	}

	const [{readExpectedApp, withHosts}, {checkApp, hostFindings}] = await Promise.all([
		import('../app/expected-app.ts'),
		import('../app/check-app.ts'),
	]);
	const {client, org} = await organizationApi(context);
	const expected = withHosts(await readExpectedApp(client, org), options.host);
	const findings = await checkApp(io, {...options, fingerprints}, expected);
	const report = createReport(context);
	await report.add([...hostFindings(expected), ...findings]);
	return report.finish(options);
};

export const appCommands: CommandGroup = {
	name: 'app',
	summary: 'Check an app, its files and requests, and print its code',
	commands: [
		command({
			usage: 'check [org]',
			summary: 'Find faults that keep links from opening the app',
			examples: [
				'check --android app/src/main/AndroidManifest.xml',
				'check --org Ab12 --ios App/App.entitlements --info App/Info.plist --json',
			],
			options: [
				new Option('--android <file>', 'AndroidManifest.xml, source or merged'),
				new Option('--ios <file>', 'entitlements of the iOS app (XML)'),
				new Option('--info <file>', 'Info.plist of the iOS app (XML)'),
				new Option(
					'--expo <dir>',
					'app.json or its folder, or the output of npx expo config --json, - for standard input',
				),
				new Option('--fingerprint <sha256>', 'fingerprint that must be configured (repeatable)').argParser(fingerprint),
				new Option('--host <host...>', "hosts to check (default: all of the organization's)"),
				strictOption(),
			],
			run: check,
		}),

		command({
			usage: 'status [org]',
			summary: 'Show what apps sent and what is missing',
			about: 'Names the next step for each part that is missing.',
			examples: ['status --org Ab12 --since 1d --json', 'status --watch'],
			options: [
				new Option('--watch', 'print each request of a device as it arrives, until Ctrl-C'),
				new Option('--since <time>', 'how far back to look, from 1h to 90d (default: 7d)').argParser(since),
			],
			run: async (context: Context<AppStatusOptions>) => (await import('../app/app-status.ts')).appStatus(context),
		}),

		command({
			usage: 'kit [org]',
			summary: 'Print the code that an app needs',
			about: 'Hosts, paths and schemes are filled in.',
			examples: ['kit --for ios', 'kit --org Ab12 --for expo > app.json'],
			options: [
				new Option('--for <platform>', 'platform or framework of the app').choices(platforms).makeOptionMandatory(),
			],
			run: async (context: Context<{for: Platform}>) => {
				const {options, show} = context;
				const {readExpectedApp} = await import('../app/expected-app.ts');
				const {client, org} = await organizationApi(context);
				const files = appKit(await readExpectedApp(client, org), options.for);
				const [only] = files;
				if (only !== undefined && files.length === 1) {
					// Standard output is then the file itself.
					await show.note(`Add these lines to ${only.path}`);
				}

				await show.answer(files, () =>
					files
						.map(({path, content}) => (files.length === 1 ? content : `<!-- Add to ${path} -->\n${content}\n`))
						.join('\n'),
				);
			},
		}),
	],
};
