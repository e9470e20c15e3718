import {type FileHandle, readFile} from 'node:fs/promises';
import path from 'node:path';
import {Option} from 'commander';
import type {ExportKind} from '../../visits/export/export-kinds.ts';
import {exitCodes, OperatorError, usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {requireCsv, spreadsheetOption} from '../common-options.ts';
import {absentAsNull, replaceFile} from '../replace-file.ts';
import {organizationApi} from '../server/link-surface.ts';
import {writeData} from '../terminal/io.ts';

type Options = {since?: string; state?: string; format: 'ndjson' | 'csv'; output?: string; spreadsheet?: boolean};

/** Exports are about visitors: only their owner reads them. */
const MODE = 0o600;

/** Characters of the last line, which holds the cursor: a few hundred. */
const MAX_LAST_LINE = 10_000;

/** A time such as `2026-03-10` (its beginning in UTC) or `2026-03-10T12:00Z`; null for a cursor, which never has this form. */
const timeOf = (text: string): string | null =>
	/^\d{4}-\d\d-\d\d/.test(text) ? (text.length === 10 ? `${text}T00:00:00Z` : text) : null;

/** The content of a state file; null if there is none yet. @throws OperatorError for another file. */
const readState = async (file: string): Promise<string | null> => {
	const text = await readFile(file, 'utf8').catch(absentAsNull);
	if (text !== null && !/^[\w-]+\n?$/.test(text)) {
		throw new OperatorError(
			`${file} does not hold a cursor`,
			exitCodes.failed,
			'Name the file that an export with --state wrote, or a new one',
		);
	}

	return text === null ? null : text.trim();
};

/**
 * The texts of a stream. @param end the expected last text, known once the stream has begun: a proxy may end a
 * truncated answer as if it were complete. @throws OperatorError for another end.
 */
async function* completeTexts(chunks: AsyncIterable<Uint8Array>, end: () => string): AsyncGenerator<string> {
	const decoder = new TextDecoder();
	let tail = '';
	for await (const chunk of chunks) {
		const text = decoder.decode(chunk, {stream: true});
		tail = (tail + text).slice(-MAX_LAST_LINE);
		yield text;
	}

	if (!tail.endsWith(end())) {
		throw new OperatorError(
			'The export broke off before its end',
			exitCodes.unreachable,
			'Run it again: it starts from the same cursor',
		);
	}
}

const exportOf = (kind: ExportKind, examples: string[]) =>
	command({
		usage: `${kind} [org]`,
		summary: `Export ${kind} stored since the last export`,
		examples,
		options: [
			new Option('--since <time>', 'start at this time or after this cursor'),
			new Option('--state <file>', 'file with the cursor, which is replaced at the end').conflicts('since'),
			new Option('--format <format>', 'output format').choices(['ndjson', 'csv']).default('ndjson'),
			spreadsheetOption({format: 'csv'}, ', not for warehouses'),
			new Option('--output <file>', 'file to write (default: standard output)'),
		],
		run: async (context: Context<Options>) => {
			const {io, options, show} = context;
			if (show.json) {
				throw usageError('An export is not one answer', 'Leave --json out: a line of NDJSON is a row');
			}

			requireCsv(options);
			const state = options.state === undefined ? null : path.resolve(io.cwd, options.state);
			const cursor = state === null ? null : await readState(state);
			const {since, format, spreadsheet} = options;
			const time = since === undefined ? null : timeOf(since);
			const after = time === null ? (since ?? cursor) : null;
			const from = {...(time === null ? {} : {since: time}), ...(after === null ? {} : {cursor: after})};
			const {client, path: base} = await organizationApi(context);
			let next = '';
			const chunks = client.stream(
				`${base}/export/${kind}`,
				{format: spreadsheet ? 'spreadsheet' : format, ...from},
				{
					onHeaders: (headers) => {
						next = headers.get('x-cursor') ?? '';
					},
				},
			);
			const texts = completeTexts(chunks, () => (format === 'ndjson' ? `${JSON.stringify({cursor: next})}\n` : ''));
			const {output = '-'} = options;
			const writeTo = async (write: (text: string) => Promise<void>) => {
				for await (const text of texts) {
					await write(text);
				}
			};
			const writeRows = () =>
				output === '-'
					? writeTo((text) => writeData(io.stdout, text))
					: replaceFile(path.resolve(io.cwd, output), (handle) => writeTo((text) => handle.writeFile(text)), MODE);
			if (state === null) {
				await writeRows();
				await show.note(`Next: --since ${next}`);
			} else {
				// The state file is opened first, because without its cursor the rows would be exported again, and replaced last.
				const write = async (handle: FileHandle) => {
					await writeRows();
					await handle.writeFile(`${next}\n`);
				};
				await replaceFile(state, write, MODE);
			}
		},
	});

export const exportCommands: CommandGroup = {
	name: 'export',
	summary: 'Export clicks, events and matches exactly once',
	commands: [
		exportOf('clicks', [
			'clicks --since 2026-03-01 > clicks.ndjson',
			'clicks --org Ab12 --state clicks.cursor --output clicks.ndjson',
		]),
		exportOf('events', ['events --state events.cursor --format csv --output events.csv']),
		exportOf('matches', ['matches --state matches.cursor --output matches.ndjson']),
	],
};
