import {mkdir, stat, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Option} from 'commander';
import {usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {numberOption, orgOption} from '../common-options.ts';
import {write} from '../io.ts';
import {linkId, linkSurface} from '../link-surface.ts';

type Format = 'svg' | 'png';
type Options = {
	org?: string;
	output: string;
	format?: Format;
	size?: number;
	margin?: number;
	color?: string;
	bgColor?: string;
	ecc?: string;
};

const isFolder = async (target: string, written: string): Promise<boolean> => {
	if (/[/\\]$/.test(written)) {
		return true;
	}

	return stat(target).then(
		(found) => found.isDirectory(),
		() => false,
	);
};

/** The format that was named, else the one that the file's name says, else SVG. */
const formatOf = ({format, output}: Options): Format => {
	const extension = path.extname(output).toLowerCase();
	return format ?? (extension === '.png' ? 'png' : 'svg');
};

export const qrCommands: CommandGroup = {
	name: 'qr',
	summary: 'QR codes of links',
	commands: [
		command({
			usage: 'export <ids...>',
			summary: 'Write the QR codes of links: one to a file, several to a folder',
			examples: [
				'export 3f0c6f0e-6f0c-4a55-9a53-0a8f3a0e9d11 --output spring.png --size 1024',
				'export ID1 ID2 --output codes/ --format svg --color "#1A2B3C" --ecc H',
			],
			options: [
				orgOption(),
				new Option('--output <file|dir>', 'file, folder for several, or - for standard output').makeOptionMandatory(),
				new Option('--format <format>', "svg or png; the file's ending where absent").choices(['svg', 'png']),
				numberOption('--size <pixels>', 'width, 64 to 2048'),
				numberOption('--margin <modules>', 'quiet zone, 0 to 16'),
				new Option('--color <rrggbb>', 'colour of the modules'),
				new Option('--bg-color <rrggbb>', 'colour behind them, or transparent'),
				new Option('--ecc <level>', 'error correction: L, M, Q or H').choices(['L', 'M', 'Q', 'H']),
			],
			run: async (context: Context<Options>, ids: string[]) => {
				const {io, options, show} = context;
				const target = path.resolve(io.cwd, options.output);
				const toStdout = options.output === '-';
				const toFolder = !toStdout && (ids.length > 1 || (await isFolder(target, options.output)));
				if (toStdout && ids.length > 1) {
					throw usageError('Several codes do not fit on standard output', 'Give a folder to --output');
				}

				const format = formatOf(options);
				const {client, base} = await linkSurface(context);
				if (toFolder) {
					await mkdir(target, {recursive: true});
				}

				const {size, margin, color, bgColor, ecc} = options;
				const written: Array<{id: string; file: string; bytes: number}> = [];
				for (const id of ids) {
					const image = await client.bytes(`${base}/${encodeURIComponent(linkId(id))}/qr.${format}`, {
						size,
						margin,
						color,
						bgColor,
						ecc,
					});
					if (toStdout) {
						await write(io.stdout, image);
						return;
					}

					const file = toFolder ? path.join(target, `${path.basename(id)}.${format}`) : target;
					await writeFile(file, image);
					written.push({id, file: path.relative(io.cwd, file), bytes: image.length});
				}

				await show.answer(written, (files) => files.map(({file}) => file).join('\n'));
			},
		}),
	],
};
