import path from 'node:path';
import {InvalidArgumentError, Option} from 'commander';
import {OplinkApiError, OplinkConnectionError} from '../../client/errors.ts';
import {exitCodes, InterruptedError, usageError} from '../cli-errors.ts';
import {type Context, command} from '../command.ts';
import {orgOption} from '../common-options.ts';
import {
	createSeenCodes,
	type FitContext,
	fittedRows,
	type OwnApps,
	type PrefixNeeds,
} from '../import/formats/fit-row.ts';
import {type ImportInput, type InputOptions, inputOptions, openInput} from '../import/import-input.ts';
import {sendThroughAdmin, sendThroughKey} from '../import/send-links.ts';
import {
	brokenOffText,
	emptyText,
	failureLines,
	type ImportState,
	importLinks,
	notCarriedOverLines,
	type OnConflict,
	prefixLines,
	REFUSALS_OF_ALL,
	rowsDone,
	soFarText,
	summaryText,
} from '../import/send-rows.ts';
import {nullOn} from '../server/admin-client.ts';
import {type LinkSurface, linkSurface} from '../server/link-surface.ts';
import {allAt} from '../server/list-pages.ts';
import type {Io} from '../terminal/io.ts';
import {verifyCommand} from './links-import-verify.ts';

type Options = InputOptions & {
	onConflict: OnConflict;
	dryRun?: boolean;
	failed?: string;
	anyApp?: boolean;
	mapChannel?: Map<string, string>;
};

/** The file of failed rows: the named one, else beside the input; none in a dry run, which leaves no files. */
const failedFileOf = ({cwd}: Io, {failed, dryRun}: Options, {file}: ImportInput): string | null => {
	if (failed === undefined) {
		return file === null || dryRun ? null : `${file}.failed`;
	}

	const named = path.resolve(cwd, failed);
	if (named === file) {
		throw usageError('--failed names the input file', 'Name another file');
	}

	return named;
};

/** A surface whose credential and organization are verified before the rows are streamed. */
const checkedSurface = async (context: Context<Options>): Promise<LinkSurface> => {
	const surface = await linkSurface(context);
	if (surface.org === null && context.options.dryRun) {
		throw usageError('A dry run needs the admin token: an API key can only create', 'Give --org and --token');
	}

	if (surface.org !== null) {
		await surface.client.get(`${surface.path}/links`, {limit: 1});
	}

	return surface;
};

type ImportTarget = Pick<FitContext, 'apps' | 'domains' | 'channels'> & {prefixes: PrefixNeeds};

/** An organization without known data, for which no row is checked. */
const unknownTarget: ImportTarget = {
	apps: null,
	domains: new Map(),
	prefixes: new Map(),
	channels: null,
};

type Domain = {id: string; hostname: string; status: string; pathPrefixes?: string[]};

/**
 * Reads the organization's apps, domains and channels through the admin API. Without an app configuration nothing is
 * checked here, and the server rejects the rows itself.
 */
const readImportTarget = async ({client, path: organization}: LinkSurface): Promise<ImportTarget> => {
	const [apps, domains, channels] = await Promise.all([
		nullOn(client.get<OwnApps>(`${organization}/app-config`), 404),
		allAt<Domain>(client, `${organization}/domains`),
		allAt<{name: string}>(client, `${organization}/channels`),
	]);
	const usable = domains.filter(({status}) => status === 'VERIFIED');
	return {
		apps,
		prefixes: new Map(
			usable.map(({hostname, pathPrefixes = []}) => [hostname.toLowerCase(), {has: pathPrefixes, needs: new Set()}]),
		),
		domains: new Map(usable.map(({id, hostname}) => [hostname.toLowerCase(), id])),
		channels: new Set(channels.map(({name}) => name)),
	};
};

/** The data that foreign rows are checked against. A SERVER key cannot read it, which is reported. */
const targetOf = async (
	{show}: Context<Options>,
	{format}: ImportInput,
	surface: LinkSurface,
): Promise<ImportTarget> => {
	if (format.names === null) {
		return unknownTarget;
	}

	if (surface.org === null) {
		await show.note('With an API key, the apps and domains named in rows are not checked; use --token to check them');
		return unknownTarget;
	}

	return readImportTarget(surface);
};

const channelNames = (text: string, names: Map<string, string> = new Map()): Map<string, string> => {
	const at = text.indexOf('=');
	if (at < 1) {
		throw new InvalidArgumentError('It is NAME=CHANNEL, or NAME= for none.');
	}

	return names.set(text.slice(0, at), text.slice(at + 1));
};

/** The report for the operator: failures by line, next steps, and fields without a counterpart. */
const report = (
	io: Io,
	state: ImportState,
	{format, name, fault}: ImportInput,
	failedFile: string | null,
): string[] => [
	...(rowsDone(state) === 0 && fault() === null ? [emptyText(name)] : []),
	...notCarriedOverLines(state),
	...failureLines(state, format.names),
	...[...state.hints].map((hint) => `Next: ${hint}`),
	...(state.counts.failed > 0 && failedFile !== null
		? [`The failed rows are in ${path.relative(io.cwd, failedFile)}: fix them and import that file`]
		: []),
];

export const importCommand = command({
	usage: 'import <file>',
	summary: 'Import links from a file',
	about: 'FILE is an export of Oplink, Firebase Dynamic Links, Branch, Bitly or Dub; - reads standard input.',
	examples: ['import links.csv --org Ab12 --dry-run', 'import fdl.csv --format firebase --org Ab12 --failed again.csv'],
	options: [
		orgOption(),
		...inputOptions(),
		new Option('--on-conflict <what>', 'action if the short code or external id exists')
			.choices(['skip', 'update', 'fail'])
			.default('skip'),
		new Option('--dry-run', 'show the result without making changes'),
		new Option('--failed <file>', 'file for failed rows (default: FILE.failed; none for -)'),
		new Option('--any-app', "also import rows of apps other than the organization's"),
		new Option('--map-channel <name=channel>', 'import rows of one channel as another (repeatable)').argParser(
			channelNames,
		),
	],
	subcommands: [verifyCommand],
	run: async (context: Context<Options>, fileName: string) => {
		const {io, options, show} = context;
		const {onConflict, dryRun = false, anyApp = false, mapChannel = new Map()} = options;
		const input = await openInput(context, fileName, options);
		const failedFile = failedFileOf(io, options, input);
		const surface = await checkedSurface(context);
		const target = await targetOf(context, input, surface);
		const rows = fittedRows(input.rows, {
			...target,
			anyApp,
			channelNames: mapChannel,
			seen: onConflict === 'skip' ? createSeenCodes() : null,
		});
		const outcomes =
			surface.org === null
				? sendThroughKey(surface, rows, {onConflict, sleep: io.sleep})
				: sendThroughAdmin(surface, rows, {dryRun, onConflict});

		const state: ImportState = {
			counts: {created: 0, updated: 0, skipped: 0, failed: 0},
			failures: [],
			notCarriedOver: {},
			hints: new Set(),
		};
		const {counts, failures, notCarriedOver} = state;
		try {
			await importLinks(io, input, outcomes, {state, failedFile});
		} catch (error) {
			const soFar = soFarText(state, input.name, dryRun);
			if (io.interruption.aborted) {
				throw new InterruptedError(soFar);
			}

			const isOfAll = error instanceof OplinkApiError && REFUSALS_OF_ALL.has(error.code);
			if (!isOfAll && (rowsDone(state) > 0 || error instanceof OplinkConnectionError)) {
				await show.note(soFar);
			}

			// If both failed, report the file's error, which the operator can fix.
			throw input.fault() ?? error;
		}

		const fault = input.fault();
		// A file rejected as a whole has no figures.
		if (fault === null || fault.exitCode !== exitCodes.usage) {
			const summary = {...counts, failures, ...(Object.keys(notCarriedOver).length > 0 && {notCarriedOver})};
			await show.answer(summary, () => summaryText(counts, dryRun));
		}

		const organization = options.org ?? 'ORG';
		await show.note([...report(io, state, input, failedFile), ...prefixLines(target.prefixes, organization)]);
		if (fault !== null) {
			if (rowsDone(state) > 0) {
				await show.note(brokenOffText(state, input.name));
			}

			throw fault;
		}

		return counts.failed === 0 ? exitCodes.ok : exitCodes.failed;
	},
});
