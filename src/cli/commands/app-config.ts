import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {text as readAll} from 'node:stream/consumers';
import {Option} from 'commander';
import {inputError, usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {isObject} from '../import/formats/import-row.ts';
import {jsonFault} from '../json-fault.ts';
import {givesPlatforms, type LinkFieldOptions, platformOptions, withPlatforms} from '../link-fields.ts';
import {resource} from '../resource.ts';
import {chosenPath} from '../server/link-surface.ts';
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

				const {client, path: organization} = await chosenPath(context);
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
