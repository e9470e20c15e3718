import {mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {InvalidArgumentError, Option} from 'commander';
import type {LinkWithDomain} from '../../client/oplink.ts';
import {usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {numberOption, orgOption} from '../common-options.ts';
import {inParallel, withPatience} from '../import/in-parallel.ts';
import {
	createFileNames,
	type Format,
	formatOf,
	isFolder,
	type Label,
	requireSheetFormat,
	writeSheet,
} from '../qr-files.ts';
import {type LinkSurface, linkSurface} from '../server/link-surface.ts';
import {eachPage, listAt} from '../server/list-pages.ts';
import {linkPath, namedLink} from '../server/named-link.ts';
import {write} from '../terminal/io.ts';

type Options = {
	all?: boolean;
	output?: string;
	sheet?: string;
	perPage: number;
	format?: Format;
	size?: number;
	margin?: number;
	color?: string;
	bgColor?: string;
	ecc?: string;
};

/** A link to draw the code of: its place among them, and its file's name without the extension. */
type QrTarget = {place: number; link: LinkSurface & {id: string}; file: string; label: Omit<Label, 'svg'> | null};

const LABELS = 12;
const MAX_LABELS = 100;
const AT_ONCE = 4;

/** The named links in that order, or all of them, newest first. Only a sheet needs more than ids. */
const wantedLinks = async function* (context: Context<Options>, names: string[]): AsyncGenerator<QrTarget> {
	const {options} = context;
	const fileName = createFileNames();
	let place = 0;
	for (const name of names) {
		const named = await namedLink(context, name);
		const link = options.sheet === undefined ? null : await named.client.get<LinkWithDomain>(linkPath(named));
		const [plain = ''] = name.split(/[?#]/);
		const file = fileName({id: named.id, shortCode: path.basename(plain)});
		yield {place: place++, link: named, file, label: link && {title: link.title, url: link.url}};
	}

	if (options.all) {
		const surface = await linkSurface(context);
		for await (const {data} of eachPage(listAt<LinkWithDomain>(surface.client, `${surface.path}/links`))) {
			for (const {id, shortCode, title, url} of data) {
				yield {place: place++, link: {...surface, id}, file: fileName({id, shortCode}), label: {title, url}};
			}
		}
	}
};

const fetchCode = (
	{io}: Context,
	{link}: QrTarget,
	{format, size, margin, color, bgColor, ecc}: Options & {format: Format},
): Promise<Uint8Array> => {
	const path = `${linkPath(link)}/qr.${format}`;
	return withPatience(() => link.client.bytes(path, {size, margin, color, bgColor, ecc}), io.sleep);
};

const requireConsistent = ({all, output, sheet}: Options, ids: string[]): void => {
	if (all ? ids.length > 0 : ids.length === 0) {
		throw usageError(all ? 'Links and --all cannot be combined' : 'No link is given', 'Name links, or give --all');
	}

	if (output === undefined && sheet === undefined) {
		throw usageError('No output is given', 'Give --output FILE or DIR, or --sheet FILE');
	}

	if (output === '-' && (all || ids.length > 1 || sheet !== undefined)) {
		throw usageError('Only one code can be written to standard output', 'Give a folder to --output');
	}

	if (sheet !== undefined) {
		requireSheetFormat(sheet);
	}
};

const exportCodes = async (context: Context<Options>, ids: string[]): Promise<void> => {
	const {io, options, show} = context;
	requireConsistent(options, ids);
	const output = options.output ?? '';
	const target = path.resolve(io.cwd, output);
	const toFolder =
		output !== '' && output !== '-' && (options.all || ids.length > 1 || (await isFolder(target, output)));
	const format = formatOf(options.format, toFolder ? '' : output);
	if (output === '-') {
		for await (const target of wantedLinks(context, ids)) {
			await write(io.stdout, await fetchCode(context, target, {...options, format}));
		}

		return;
	}

	if (toFolder) {
		// Not `recursive`, which never ends below /proc.
		await mkdir(target).catch((error: unknown) => {
			if ((error as {code?: string}).code !== 'EEXIST') {
				throw error;
			}
		});
	}

	const draw = async (qrTarget: QrTarget) => {
		const {place, link, file, label} = qrTarget;
		const code = (wanted: Format) => fetchCode(context, qrTarget, {...options, format: wanted});
		const svg = options.sheet === undefined ? null : Buffer.from(await code('svg')).toString();
		const labels: Label[] = svg === null || label === null ? [] : [{...label, svg}];
		if (output === '') {
			return {place, labels, files: []};
		}

		const image = await code(format);
		const own = toFolder ? path.join(target, `${file}.${format}`) : target;
		await writeFile(own, image);
		return {place, labels, files: [{id: link.id, file: path.relative(io.cwd, own), bytes: image.length}]};
	};
	const drawn: Array<Awaited<ReturnType<typeof draw>>> = [];
	for await (const one of inParallel(wantedLinks(context, ids), AT_ONCE, draw)) {
		drawn[one.place] = one;
	}

	const labels = drawn.flatMap((one) => one.labels);
	const sheets =
		options.sheet === undefined || labels.length === 0
			? []
			: await writeSheet(path.resolve(io.cwd, options.sheet), labels, options.perPage);
	const files = [
		...drawn.flatMap((one) => one.files),
		...sheets.map((file) => ({sheet: true, file: path.relative(io.cwd, file)})),
	];
	if (drawn.length === 0) {
		await show.note('There is no link yet');
	}

	await show.answer(files, (all) => all.map(({file}) => file).join('\n'));
};

const perPage = (text: string): number => {
	const number = Number(text);
	if (!Number.isInteger(number) || number < 1 || number > MAX_LABELS) {
		throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_LABELS}.`);
	}

	return number;
};

export const qrCommands: CommandGroup = {
	name: 'qr',
	summary: 'Export QR codes of links',
	commands: [
		command({
			usage: 'export [links...]',
			summary: 'Export the QR codes of links',
			about: 'One code is written to a file, several to a folder; --sheet writes labels on A4 sheets.',
			examples: [
				'export https://go.acme.example/Ab12/spring --output spring.png --size 1024',
				'export --all --org Ab12 --output codes/ --sheet labels.html --per-page 24',
			],
			options: [
				orgOption(),
				new Option('--all', 'export every link, in files named after the short codes'),
				new Option('--output <file|dir>', 'file, folder for several, or - for standard output'),
				new Option('--sheet <file>', 'labels with title and short URL on A4: .html, or .svg with a file for each page'),
				new Option('--per-page <number>', 'labels per page').argParser(perPage).default(LABELS),
				new Option('--format <format>', 'image format (default: from the file extension)').choices(['svg', 'png']),
				numberOption('--size <pixels>', 'width in pixels, 64 to 2048'),
				numberOption('--margin <modules>', 'quiet zone in modules, 0 to 16'),
				new Option('--color <rrggbb>', 'colour of the modules'),
				new Option('--bg-color <rrggbb>', 'background colour, or transparent'),
				new Option('--ecc <level>', 'error correction level').choices(['L', 'M', 'Q', 'H']),
			],
			run: exportCodes,
		}),
	],
};
