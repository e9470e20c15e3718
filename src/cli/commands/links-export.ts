import {type FileHandle, open} from 'node:fs/promises';
import path from 'node:path';
import {Option} from 'commander';
import {counted} from '../../counted.ts';
import {type Context, command} from '../command.ts';
import {orgOption} from '../common-options.ts';
import {type ExportFormatName, exportFormatNames, exportFormats} from '../export-formats.ts';
import {linesOf} from '../import/formats/lines.ts';
import {type LinkSurface, linkSurface} from '../server/link-surface.ts';
import {eachPage} from '../server/list-pages.ts';
import {writeData} from '../terminal/io.ts';

type Options = {output?: string; format: ExportFormatName};
type Row = Record<string, unknown>;

/** All links: one stream of the admin API, or page by page with a SERVER key, which has no stream. */
const rowsOf = async function* ({links, client, base, credential}: LinkSurface): AsyncGenerator<Row> {
	if (credential === 'admin') {
		for await (const line of linesOf(client.stream(`${base}/export`))) {
			yield JSON.parse(line) as Row;
		}

		return;
	}

	for await (const {data} of eachPage(links.list)) {
		yield* data;
	}
};

const PIECE_CHARACTERS = 2 ** 16;

/** Joins texts into chunks large enough for a system call. */
const eachPiece = async (texts: AsyncIterable<string>, take: (piece: string) => Promise<unknown>): Promise<void> => {
	let piece = '';
	for await (const text of texts) {
		piece += text;
		if (piece.length >= PIECE_CHARACTERS) {
			await take(piece);
			piece = '';
		}
	}

	await take(piece);
};

/** Writes a file, opened with the first chunk: a refused export leaves an older file alone. */
const writeTo = async (file: string, texts: AsyncIterable<string>): Promise<void> => {
	let handle: FileHandle | null = null;
	try {
		await eachPiece(texts, async (piece) => {
			handle ??= await open(file, 'w');
			await handle.writeFile(piece);
		});
	} finally {
		await (handle as FileHandle | null)?.close();
	}
};

export const exportCommand = command({
	usage: 'export',
	summary: 'Write every link in a form that links import reads',
	examples: ['export --org Ab12 > links.ndjson', 'export --format csv --output links.csv'],
	options: [
		orgOption(),
		new Option('--output <file>', 'file to write (default: standard output)'),
		new Option('--format <format>', 'output format').choices(exportFormatNames).default('ndjson'),
	],
	run: async (context: Context<Options>) => {
		const {io, options, show} = context;
		const surface = await linkSurface(context);
		let count = 0;
		const rows = async function* () {
			for await (const row of rowsOf(surface)) {
				count += 1;
				yield row;
			}
		};
		const texts = exportFormats[options.format](rows());
		if (options.output === undefined || options.output === '-') {
			await eachPiece(texts, (piece) => writeData(io.stdout, piece));
			return;
		}

		await writeTo(path.resolve(io.cwd, options.output), texts);
		await show.note(`${counted(count, 'link')} written to ${options.output}`);
	},
});
