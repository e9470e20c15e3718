import type {IncomingHttpHeaders} from 'node:http';
import {Readable} from 'node:stream';
import type {Caller} from '../../../accounts/audit/audit-log.ts';
import type {PlanDeps} from '../../../accounts/plans/entitlements.ts';
import {inTransaction} from '../../../platform/db/db.ts';
import {unsupportedEncoding, unsupportedMediaType} from '../../../platform/errors.ts';
import {type Reply, type RequestFacts, reply, withLoggedFault} from '../../../platform/http/route.ts';
import type {Services} from '../../../services.ts';
import {ndjsonHeaders} from '../link-answer.ts';
import type {ImportQuery} from '../link-schemas.ts';
import {importChunk} from './import-chunk.ts';
import {type ImportRow, MAX_ROW_BYTES, readRow} from './import-row.ts';
import type {ImportAnswer} from './import-target.ts';
import {dryRunTarget, realTarget} from './import-target.ts';
import {lineBatches} from './line-batches.ts';

const BATCH = {lines: 200, bytes: 1024 * 1024};

/** Media types of NDJSON, and those that tools send for unknown files. A missing type is accepted too. */
const ACCEPTED = /^(?:application\/(?:x-ndjson|ndjson|jsonl|x-jsonlines|json|octet-stream)|text\/plain)$/i;

const requireNdjson = (headers: IncomingHttpHeaders): void => {
	const [type = ''] = (headers['content-type'] ?? '').split(';');
	if (headers['content-type'] !== undefined && !ACCEPTED.test(type.trim())) {
		throw unsupportedMediaType('application/x-ndjson');
	}

	if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
		throw unsupportedEncoding();
	}
};

type Deps = PlanDeps &
	Pick<
		Services,
		| 'addresses'
		| 'background'
		| 'bodyContext'
		| 'changes'
		| 'clickJournal'
		| 'db'
		| 'linkPolicy'
		| 'longReads'
		| 'refusals'
	>;
type Import = {organization: {id: string}; by: Caller; query: ImportQuery; request: RequestFacts};
type ApplyRows = (rows: ImportRow[]) => Promise<ImportAnswer[]>;

/** Applies each chunk in a transaction. A stop of the service waits for the one in progress. */
const applyInTransactions = (services: Deps, {organization, by, query}: Import): ApplyRows => {
	const chunk = {organizationId: organization.id, by, onConflict: query.onConflict};
	return async (rows) => {
		await services.clickJournal.flushed({containing: [organization.id]});
		const now = services.clock.now();
		const work = inTransaction(services.db, (trx) =>
			importChunk(services, realTarget(trx, organization.id, {now, by}), {...chunk, now, rows}),
		);
		services.background.run('finish a chunk of an import', work);
		const answers = await work;
		await services.changes.settled();
		return answers;
	};
};

async function* answerLines(services: Pick<Deps, 'bodyContext'>, {request}: Import, apply: ApplyRows) {
	// An empty chunk sends the headers, for callers that wait for them before they send rows.
	yield '';
	for await (const lines of lineBatches(request.stream, {maxLineBytes: MAX_ROW_BYTES, max: BATCH})) {
		const rows = lines.flatMap((line) => readRow(line, services.bodyContext) ?? []);
		const answers = rows.length === 0 ? [] : await apply(rows);
		yield answers.map((answer) => `${JSON.stringify(answer)}\n`).join('');
	}
}

async function* dryRun(services: Deps, given: Import) {
	const {organization, by, query} = given;
	const trx = await services.db.transaction();
	try {
		const now = services.clock.now();
		const target = await dryRunTarget(services.db, trx, organization.id, now);
		const chunk = {now, organizationId: organization.id, by, onConflict: query.onConflict};
		yield* answerLines(services, given, (rows) => importChunk(services, target, {...chunk, rows}));
	} finally {
		await trx.rollback();
	}
}

/**
 * Imports NDJSON of any length and answers a line per row while it still reads (contract/admin 4). Rows are applied in
 * chunks, each in a transaction. A server fault breaks the connection instead of ending the answer: a partial
 * answer must not look complete. If the caller disconnects, the import ends after the chunk in progress.
 * @throws 415 before anything is read; 503 if no other dry run ends in time: each holds a connection.
 */
export const importLinks = async (services: Deps, given: Import): Promise<Reply> => {
	const {organization, query, request} = given;
	requireNdjson(request.headers);
	if (!query.dryRun) {
		const answers = answerLines(services, given, applyInTransactions(services, given));
		return reply({headers: ndjsonHeaders, body: Readable.from(withLoggedFault(request, 'an import', answers))});
	}

	const endTurn = await services.longReads.dryRuns.take({organizationId: organization.id, hungUp: request.hungUp()});
	const body = Readable.from(withLoggedFault(request, 'an import', dryRun(services, given)));
	body.once('close', endTurn);
	return reply({headers: ndjsonHeaders, body});
};
