import {createReadStream} from 'node:fs';
import {stat} from 'node:fs/promises';
import path from 'node:path';
import {Option} from 'commander';
import {OplinkConnectionError} from '../../client/errors.ts';
import {InterruptedError, inputError, usageError} from '../cli-errors.ts';
import {type Context, command} from '../command.ts';
import {orgOption} from '../common-options.ts';
import {exitCodes} from '../exit-codes.ts';
import {createFailedRows} from '../failed-rows.ts';
import {formatOfFile, type ImportFormatName, importFormatNames, importFormats} from '../import-formats/read-rows.ts';
import {createImportState, type ImportSummary, importLinks, rowsDone} from '../import-links.ts';
import {figuresOf, startProgress} from '../import-progress.ts';
import type {Io} from '../io.ts';
import {type LinkSurface, linkSurface} from '../link-surface.ts';
import {type OnConflict, reasonOf} from '../row-outcome.ts';
import {sendThroughAdmin} from '../send-through-admin.ts';
import {sendThroughKey} from '../send-through-key.ts';

type Options = {
	org?: string;
	format?: ImportFormatName;
	onConflict: OnConflict;
	dryRun?: boolean;
	failed?: string;
};
type Input = {name: string; file: string | null; size: number | null};

const FAILURES_SHOWN = 20;
const RESUME = 'The same command goes on from there: links that exist are skipped.';

const inputOf = async (io: Io, name: string): Promise<Input> => {
	if (name === '-') {
		return {name: 'standard input', file: null, size: null};
	}

	const file = path.resolve(io.cwd, name);
	try {
		const {size} = await stat(file);
		return {name, file, size};
	} catch (error) {
		throw inputError(`Cannot read ${name}: ${(error as Error).message}`);
	}
};

/** Where failed rows go: what is named, else beside the input; nowhere for a dry run, which leaves nothing behind. */
const failedFileOf = ({cwd}: Io, {failed, dryRun}: Options, {file}: Input): string | null => {
	if (failed === undefined) {
		return file === null || dryRun ? null : `${file}.failed`;
	}

	const named = path.resolve(cwd, failed);
	if (named === file) {
		throw usageError('--failed names the input itself', 'Name another file');
	}

	return named;
};

/** A surface that answers for the credential and the organization before a stream of rows is opened. */
const checkedSurface = async (context: Context<Options>): Promise<LinkSurface> => {
	const surface = await linkSurface(context);
	if (surface.credential === 'key' && context.options.dryRun) {
		throw usageError('A dry run needs the admin token: an API key can only create', 'Give --org and --token');
	}

	if (surface.credential === 'admin') {
		await surface.links.list({limit: 1});
	}

	return surface;
};

const summaryText = ({created, updated, skipped, failed}: ImportSummary, dryRun: boolean): string =>
	`${dryRun ? 'Would be: ' : ''}${created} created, ${updated} updated, ${skipped} skipped, ${failed} failed`;

const failureLines = ({failures, failed}: ImportSummary): string[] => [
	...failures.slice(0, FAILURES_SHOWN).map((failure) => `line ${failure.line}: ${reasonOf(failure)}`),
	...(failed > FAILURES_SHOWN ? [`… and ${failed - FAILURES_SHOWN} more`] : []),
];

export const importCommand = command({
	usage: 'import <file>',
	summary: 'Create links from a CSV, JSON or NDJSON file, or - for standard input',
	examples: ['import links.csv --org Ab12 --dry-run', 'import links.ndjson --on-conflict update --failed again.ndjson'],
	options: [
		orgOption(),
		new Option('--format <format>', "format of the file; the file's ending where absent").choices(importFormatNames),
		new Option('--on-conflict <what>', 'what to do where short code or external id exist')
			.choices(['skip', 'update', 'fail'])
			.default('skip'),
		new Option('--dry-run', 'say what would happen, and do nothing'),
		new Option('--failed <file>', 'where failed rows are written; FILE.failed where absent'),
	],
	run: async (context: Context<Options>, fileName: string) => {
		const {io, options, show} = context;
		const format = importFormats[options.format ?? formatOfFile(fileName)];
		const input = await inputOf(io, fileName);
		const failedFile = failedFileOf(io, options, input);
		const surface = await checkedSurface(context);
		const dryRun = options.dryRun === true;
		const rows = format.rows(input.file === null ? io.stdin : createReadStream(input.file));
		const outcomes =
			surface.credential === 'admin'
				? sendThroughAdmin(surface, rows, {dryRun, onConflict: options.onConflict})
				: sendThroughKey(surface, rows, {onConflict: options.onConflict, sleep: io.sleep});

		const state = createImportState();
		const {summary} = state;
		const stop = await startProgress(io, () => figuresOf(state, input.size));
		try {
			await importLinks(outcomes, {
				state,
				failedRows: failedFile === null ? null : createFailedRows(failedFile, format),
			});
			// Heading and empty lines are no rows, so that the sum of the rows falls short of the file.
			state.bytes = input.size ?? state.bytes;
		} catch (error) {
			const soFar = `${rowsDone(summary)} row(s) of ${input.name} are answered, and more may be done (${summaryText(summary, dryRun)}). ${RESUME}`;
			if (io.interruption.aborted) {
				throw new InterruptedError(soFar);
			}

			if (error instanceof OplinkConnectionError) {
				await show.note(soFar);
			}

			throw error;
		} finally {
			stop();
		}

		await show.answer(summary, () => summaryText(summary, dryRun));
		if (summary.failed === 0) {
			return exitCodes.ok;
		}

		const kept =
			failedFile === null
				? []
				: [`The failed rows are in ${path.relative(io.cwd, failedFile)}: mend them and import that file`];
		await show.note([...failureLines(summary), ...kept].join('\n'));
		return exitCodes.failed;
	},
});
