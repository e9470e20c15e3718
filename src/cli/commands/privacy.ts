import path from 'node:path';
import {Option} from 'commander';
import type {Erased} from '../../privacy/erasure-store.ts';
import {usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {yesOption} from '../common-options.ts';
import {textOf} from '../import/formats/lines.ts';
import {replaceFile} from '../replace-file.ts';
import {organizationPath} from '../server/link-surface.ts';
import {write} from '../terminal/io.ts';
import {safeJson} from '../terminal/printable.ts';
import {requireConsent} from '../terminal/require-consent.ts';

type SubjectOptions = {device?: string; user?: string};

const subjectOptions = (): Option[] => [
	new Option('--device <id>', 'device id assigned by the app').conflicts('user'),
	new Option('--user <id>', 'user id set by the app (externalUserId), on all their devices'),
];

/** Path of the device's or the user's data. @throws OperatorError if neither is named. */
const dataPath = (org: string, {device, user}: SubjectOptions): string => {
	const named = device === undefined ? user : device;
	if (named === undefined) {
		throw usageError('No device or user is given', 'Name a device with --device ID or a user with --user ID');
	}

	return `${organizationPath(org)}/${device === undefined ? 'users' : 'devices'}/${encodeURIComponent(named)}/data`;
};

const nameOf = ({device, user}: SubjectOptions): string => (device === undefined ? `user ${user}` : `device ${device}`);

export const privacyCommands: CommandGroup = {
	name: 'privacy',
	summary: 'Export or erase the data of a device or user (GDPR, articles 15 and 17)',
	commands: [
		command({
			usage: 'export <org>',
			summary: 'Export all data of a device or user as one JSON document',
			examples: [
				'export Ab12 --user customer-77 --output customer-77.json',
				'export Ab12 --device 0b7e9f12 | jq .events',
			],
			options: [
				...subjectOptions(),
				new Option('--output <file>', 'file to write, readable by its owner only (default: standard output)'),
			],
			run: async ({io, connection, options, show}: Context<SubjectOptions & {output?: string}>, org: string) => {
				const chunks = connection.admin().stream(dataPath(org, options));
				const {output} = options;
				if (output === undefined || output === '-') {
					for await (const text of textOf(chunks)) {
						await write(io.stdout, safeJson(text));
					}

					return;
				}

				await replaceFile(path.resolve(io.cwd, output), async (handle) => {
					for await (const chunk of chunks) {
						await handle.writeFile(chunk);
					}
				});
				await show.note(`Data of ${nameOf(options)} written to ${output}`);
			},
		}),

		command({
			usage: 'erase <org>',
			summary: 'Erase all data of a device or user; report and quota figures do not change',
			examples: ['erase Ab12 --user customer-77', 'erase Ab12 --device 0b7e9f12 --yes --json'],
			options: [...subjectOptions(), yesOption()],
			run: async ({io, connection, options, show}: Context<SubjectOptions & {yes?: boolean}>, org: string) => {
				const subject = dataPath(org, options);
				await requireConsent(io, options.yes, `Erase all data of the ${nameOf(options)} of ${org}?`);
				await show.answer(
					await connection.admin().delete<{erased: Erased}>(subject),
					({erased: {devices, events, matchAttempts, clicks}}) =>
						`Erased the ${nameOf(options)}: ${devices} device(s), ${events} event(s), ${matchAttempts} match attempt(s), ${clicks} click(s)`,
				);
			},
		}),
	],
};
