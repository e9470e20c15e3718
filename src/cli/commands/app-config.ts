import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {text as readAll} from 'node:stream/consumers';
import {Option} from 'commander';
import {inputError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {organizationPath} from '../server/link-surface.ts';
import type {Io} from '../terminal/io.ts';

const readJson = async (io: Io, file: string): Promise<unknown> => {
	const content = file === '-' ? await readAll(io.stdin) : await readFile(path.resolve(io.cwd, file), 'utf8');
	try {
		return JSON.parse(content.replace(/^\uFEFF/, ''));
	} catch (error) {
		throw inputError(`${file === '-' ? 'Standard input' : file} is not valid JSON: ${(error as Error).message}`);
	}
};

export const appConfigCommands: CommandGroup = {
	name: 'app-config',
	summary: "Manage an organization's app configuration",
	commands: [
		command({
			usage: 'show <org>',
			summary: 'Print the app configuration as JSON, in the form that set accepts',
			examples: ['show Ab12', 'show Ab12 > app-config.json'],
			run: async ({connection, show}, org: string) => {
				const config = await connection.admin().get<object>(`${organizationPath(org)}/app-config`);
				await show.answer(config, () => JSON.stringify(config, null, 2));
			},
		}),

		command({
			usage: 'set <org>',
			summary: 'Replace the app configuration with a JSON file',
			examples: ['set Ab12 --file app-config.json', 'set Ab12 --file - < app-config.json'],
			options: [new Option('--file <file>', 'JSON file, or - for standard input').makeOptionMandatory()],
			run: async ({io, connection, options, show}: Context<{file: string}>, org: string) => {
				const body = await readJson(io, options.file);
				const config = await connection.admin().put<object>(`${organizationPath(org)}/app-config`, body);
				await show.answer(config, () => JSON.stringify(config, null, 2));
			},
		}),
	],
};
