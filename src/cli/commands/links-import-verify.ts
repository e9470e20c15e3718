import http from 'node:http';
import https from 'node:https';
import type {LinkWithDomain} from '../../client/oplink.ts';
import {exitCodes, inputError} from '../cli-errors.ts';
import {type Context, command} from '../command.ts';
import {orgOption} from '../common-options.ts';
import type {ImportRow} from '../import/formats/import-row.ts';
import {type InputOptions, inputOptions, openInput} from '../import/import-input.ts';
import {inParallel} from '../import/in-parallel.ts';
import {sendThroughAdmin} from '../import/send-links.ts';
import {countOutcomes, emptyText, failureLines, type RowOutcome, refused, rowsDone} from '../import/send-rows.ts';
import {type LinkSurface, linkSurface} from '../server/link-surface.ts';
import type {Page} from '../server/list-pages.ts';
import type {Io} from '../terminal/io.ts';

/** The state of a row's link: it resolves, it is gone as the row says, or it differs from the row. */
type VerifiedRow = RowOutcome<'resolved' | 'gone' | 'failed'>;

const PARALLEL_REQUESTS = 16;
const TIMEOUT_SECONDS = 15;

/**
 * The fields that decide the destination of a row's link; all fields if the row has no name, which is then derived from
 * them.
 */
const placeOf = (row: Record<string, unknown>): Record<string, unknown> => {
	const {shortCode, externalId, path, params, templateId} = row;
	return shortCode === undefined && externalId === undefined ? row : {shortCode, externalId, path, params, templateId};
};

/** Each row with its link's URL. A SERVER key has no dry run, so the URL is derived from the code. */
async function* foundThroughKey({client}: LinkSurface, rows: AsyncIterable<ImportRow>): AsyncGenerator<RowOutcome> {
	const [link] = (await client.get<Page<LinkWithDomain>>('/links', {limit: 1})).data;
	if (link === undefined) {
		throw inputError('The organization has no link yet');
	}

	const base = link.url.slice(0, -link.shortCode.length);
	for await (const row of rows) {
		const shortCode = row.row?.['shortCode'];
		if (row.row === undefined) {
			yield refused(row, row.error);
		} else if (typeof shortCode === 'string') {
			yield {row, status: 'skipped', url: base + encodeURIComponent(shortCode)};
		} else {
			yield refused(row, 'has no short code, which an API key needs to find the link');
		}
	}
}

type Answer = {status: number; date: string | null; retryAfterSeconds: number};

/** Requests only headers, over connections that stay open: fetch opens a new one for every HEAD. */
const ask = (url: URL, signal: AbortSignal): Promise<Answer> =>
	new Promise((resolve, reject) => {
		const {request: open} = url.protocol === 'http:' ? http : https;
		const options = {method: 'HEAD', headers: {'user-agent': 'oplink'}, signal, timeout: TIMEOUT_SECONDS * 1000};
		const request = open(url, options, (response) => {
			const {date = null, 'retry-after': retryAfter} = response.headers;
			response.resume();
			resolve({status: response.statusCode ?? 0, date, retryAfterSeconds: Number(retryAfter) || 1});
		});
		request.on('timeout', () => request.destroy(new Error(`no answer within ${TIMEOUT_SECONDS} s`)));
		request.on('error', reject);
		request.end();
	});

/**
 * Status of a HEAD request for a link's data, which counts no click (contract/hosts 6), or the reason of a failure. The
 * data resolves as the page does, with a fraction of the work.
 */
const answerOf = async (url: string, {sleep, interruption}: Io): Promise<Answer | {reason: string}> => {
	for (;;) {
		try {
			const answer = await ask(new URL(`${url}/data`), interruption);
			if (answer.status !== 429) {
				return answer;
			}

			await sleep(answer.retryAfterSeconds);
		} catch (error) {
			interruption.throwIfAborted();
			return {reason: error instanceof Error ? error.message : String(error)};
		}
	}
};

/** Whether the row says that its link is gone at the time of the answer. */
const isGone = (row: Record<string, unknown> | undefined, date: string | null): boolean => {
	const expiry = row?.['expiry'];
	const at = date === null ? Number.NaN : Date.parse(date);
	return row?.['isActive'] === false || (typeof expiry === 'string' && Date.parse(expiry) <= at);
};

/**
 * The address of the row on its own domain, where a prefix stands before the code: that one is printed, and only the
 * domain's setting makes it work.
 */
const oldAddress = (url: string, {row, foreign}: ImportRow): string => {
	const {host = null, prefix = null} = foreign ?? {};
	return prefix !== null && row !== undefined && host?.toLowerCase() === new URL(url).host
		? new URL(`/${prefix}/${row['shortCode']}`, url).href
		: url;
};

const verifyOutcome = async (outcome: RowOutcome, io: Io): Promise<VerifiedRow> => {
	const {row, status, url: linkUrl} = outcome;
	const failed = (reason: string) => refused(row, reason);
	if (status === 'failed') {
		return {...outcome, status};
	}

	if (status === 'created' || linkUrl === undefined) {
		return failed('is not imported');
	}

	const url = oldAddress(linkUrl, row);
	if (status === 'updated') {
		return failed(`${url} leads to another path, or with other parameters`);
	}

	const answer = await answerOf(url, io);
	if ('reason' in answer) {
		return failed(`${url} does not answer: ${answer.reason}`);
	}

	const gone = isGone(row.row, answer.date);
	if (gone ? answer.status === 410 : answer.status < 400) {
		return {row, status: gone ? 'gone' : 'resolved'};
	}

	return failed(
		gone ? `${url} answers ${answer.status} where the row is no longer active` : `${url} answers ${answer.status}`,
	);
};

/** Requests the public URL of each row's link, several concurrently; rows complete in any order. Read-only. */
async function* verifyLinks(surface: LinkSurface, rows: AsyncIterable<ImportRow>, io: Io): AsyncGenerator<VerifiedRow> {
	// From a dry run of an update: a row it would create has no link, and one it would change leads elsewhere.
	const found =
		surface.org === null
			? foundThroughKey(surface, rows)
			: sendThroughAdmin(surface, rows, {dryRun: true, onConflict: 'update', bodyOf: placeOf});
	yield* inParallel(found, PARALLEL_REQUESTS, (outcome) => verifyOutcome(outcome, io));
}

export const verifyCommand = command({
	usage: 'verify <file>',
	summary: 'Check that the links of an imported file resolve',
	about: 'Requests the short URL of each row. The requests are not counted as clicks.',
	examples: ['verify links.csv --org Ab12', 'verify fdl.csv --format firebase --json'],
	options: [orgOption(), ...inputOptions()],
	run: async (context: Context<InputOptions>, fileName: string) => {
		const {io, options, show} = context;
		const input = await openInput(context, fileName, options);
		const surface = await linkSurface(context);
		const counts = {resolved: 0, gone: 0, failed: 0};
		const tally = {counts, failures: []};
		await countOutcomes(io, input, verifyLinks(surface, input.rows, io), tally);
		await show.answer(
			{...counts, failures: tally.failures},
			({resolved, gone, failed}) => `${resolved} resolve, ${gone} gone as the file says, ${failed} failed`,
		);
		const fault = input.fault();
		const isEmpty = rowsDone(tally) === 0 && fault === null;
		await show.note(isEmpty ? emptyText(input.name) : failureLines(tally, input.format.names));
		if (fault !== null) {
			throw fault;
		}

		return counts.failed === 0 ? exitCodes.ok : exitCodes.failed;
	},
});
