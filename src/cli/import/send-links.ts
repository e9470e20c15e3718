import {randomUUID} from 'node:crypto';
import {OplinkApiError, OplinkConnectionError} from '../../client/errors.ts';
import type {LinkWithDomain} from '../../client/oplink.ts';
import {contentCode, readOnlyFields} from '../../links/links/import/canonical-json.ts';
import type {ImportAnswer} from '../../links/links/import/import-target.ts';
import {counted, cutText} from '../../platform/text.ts';
import type {ApiClient} from '../server/admin-client.ts';
import type {LinkSurface} from '../server/link-surface.ts';
import {eachPage, listAt} from '../server/list-pages.ts';
import type {ImportRow} from './formats/import-row.ts';
import {inParallel, withPatience} from './in-parallel.ts';
import {type OnConflict, REFUSALS_OF_ALL, type RowOutcome, refused} from './send-rows.ts';

/** `bodyOf` converts a row to the line that is sent. By default the row is sent as it is. */
type AdminOptions = {
	dryRun: boolean;
	onConflict: OnConflict;
	bodyOf?: (row: Record<string, unknown>) => Record<string, unknown>;
};

/**
 * Streams rows to the admin API's import and yields their outcomes. The server numbers the lines it receives, so
 * pending rows are kept by that number; the sockets' buffers bound how many there are.
 * @throws OplinkApiError for a refusal of all rows; OplinkConnectionError if the answer ends before every row has an outcome.
 */
export async function* sendThroughAdmin(
	{client, path: organization}: LinkSurface,
	rows: AsyncIterable<ImportRow>,
	{dryRun, onConflict, bodyOf = (row) => row}: AdminOptions,
): AsyncGenerator<RowOutcome> {
	const underWay = new Map<number, ImportRow>();
	const unsent: RowOutcome[] = [];
	let sent = 0;
	const lines = async function* () {
		for await (const row of rows) {
			if (row.error !== undefined) {
				unsent.push(refused(row, row.error));
				continue;
			}

			sent += 1;
			underWay.set(sent, row);
			yield JSON.stringify(bodyOf(row.row));
		}
	};
	const path = `${organization}/links/import`;
	const broken = (reason: string) =>
		new OplinkConnectionError({method: 'POST', baseUrl: client.baseUrl, path}, new Error(reason));
	for await (const text of client.exchange(path, {dryRun, onConflict}, lines())) {
		yield* unsent.splice(0);
		const result = JSON.parse(text) as ImportAnswer;
		const row = underWay.get(result.line);
		if (row === undefined) {
			throw broken(`unexpected answer: ${cutText(text, 200)}`);
		}

		underWay.delete(result.line);
		if (REFUSALS_OF_ALL.has(result.error?.['code'])) {
			throw new OplinkApiError({status: Number(result.error?.['statusCode']), text: JSON.stringify(result.error)});
		}

		yield result.status === 'failed'
			? refused(row, result.error)
			: {row, status: result.status, ...(result.url === undefined ? {} : {url: result.url})};
	}

	yield* unsent.splice(0);
	if (underWay.size > 0) {
		throw broken(`it stopped with ${counted(underWay.size, 'row')} unanswered`);
	}
}

type Body = Record<string, unknown>;
type KeyOptions = {onConflict: OnConflict; sleep: (seconds: number) => Promise<void>};

const PARALLEL_REQUESTS = 8;
/** Converts an exported row to a create body: without read-only and empty fields. */
const createBody = (row: Body): Body =>
	Object.fromEntries(Object.entries(row).filter(([field, value]) => !readOnlyFields.has(field) && value !== null));

/** A row without a name gets the same short code as in the admin API's import. */
const withShortCode = (body: Body): Body =>
	body['shortCode'] === undefined && body['externalId'] === undefined ? {...body, shortCode: contentCode(body)} : body;

/** The id of the link with a row's external id or short code. */
const existingId = async (client: ApiClient, {externalId, shortCode}: Body): Promise<string | null> => {
	const isSame = (link: LinkWithDomain) =>
		(externalId !== undefined && link.externalId === externalId) || link.shortCode === shortCode;
	const queries = [
		...(typeof externalId === 'string' ? [{externalId}] : []),
		...(typeof shortCode === 'string' ? [{q: shortCode}] : []),
	];
	for (const query of queries) {
		for await (const {data} of eachPage(listAt<LinkWithDomain>(client, '/links'), query)) {
			const found = data.find(isSame);
			if (found) {
				return found.id;
			}
		}
	}

	return null;
};

/** The refusals of a row whose link exists. */
const TAKEN = new Set<string | undefined>(['short_code_taken', 'external_id_taken']);

/**
 * Whether continuing is useless: the credential is refused, nobody answers, a part of the server is unavailable, or the
 * organization lacks a plan or its apps.
 */
const endsTheImport = (error: unknown): boolean =>
	!(error instanceof OplinkApiError) ||
	error.status === 401 ||
	error.status > 500 ||
	REFUSALS_OF_ALL.has(error.code) ||
	(error.status === 403 && error.code === undefined);

/**
 * Creates rows one by one with a SERVER key, several concurrently, waiting as the rate limit demands. Each request has
 * an Idempotency-Key, so that a retry after a lost answer creates no second link.
 * @throws the errors of endsTheImport.
 */
export async function* sendThroughKey(
	{client}: LinkSurface,
	rows: AsyncIterable<ImportRow>,
	{onConflict, sleep}: KeyOptions,
): AsyncGenerator<RowOutcome> {
	const run = randomUUID();
	let number = 0;

	const onTaken = async (row: ImportRow, body: Body, error: OplinkApiError): Promise<RowOutcome> => {
		if (onConflict === 'skip') {
			return {row, status: 'skipped'};
		}

		const id = onConflict === 'update' ? await withPatience(() => existingId(client, body), sleep) : null;
		if (id === null) {
			return refused(row, error);
		}

		await withPatience(() => client.patch(`/links/${encodeURIComponent(id)}`, body), sleep);
		return {row, status: 'updated'};
	};

	const send = async (row: ImportRow, body: Body): Promise<RowOutcome> => {
		number += 1;
		const idempotencyKey = `import-${run}-${number}`;
		try {
			await withPatience(() => client.post('/links', body, idempotencyKey), sleep);
			return {row, status: 'created'};
		} catch (error) {
			if (!(error instanceof OplinkApiError)) {
				throw error;
			}

			const {domainId, ...withoutDomain} = body;
			// An exported row may name a domain of another organization, or of another server, as in the admin API's import.
			if (error.status === 404 && domainId !== undefined && row.row?.['organizationId'] !== undefined) {
				return send(row, withoutDomain);
			}

			if (TAKEN.has(error.errorCode)) {
				return onTaken(row, body, error);
			}

			throw error;
		}
	};

	const outcomeOf = async (row: ImportRow): Promise<RowOutcome> => {
		if (row.error !== undefined) {
			return refused(row, row.error);
		}

		try {
			return await send(row, withShortCode(createBody(row.row)));
		} catch (error) {
			if (endsTheImport(error)) {
				throw error;
			}

			return refused(row, error);
		}
	};

	// Two rows for one link are applied in the file's order, which requires sending them one at a time.
	yield* inParallel(rows, onConflict === 'update' ? 1 : PARALLEL_REQUESTS, outcomeOf);
}
