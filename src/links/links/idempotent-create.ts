import {createHash} from 'node:crypto';
import type {IncomingHttpHeaders} from 'node:http';
import {type Db, onlyRow, translateViolation} from '../../platform/db/db.ts';
import {execute, run, sql} from '../../platform/db/sql.ts';
import {
	idempotencyKeyInProgress,
	idempotencyKeyReused,
	organizationNotFound,
	validationFailed,
} from '../../platform/errors.ts';
import {canonicalJson} from './import/canonical-json.ts';
import type {LinkInput, LinkJson} from './link.ts';

/** How long a key repeats its first answer (contract/links 8). */
const KEY_HOURS = 24;
const MAX_KEY = 255;

/** The request's Idempotency-Key. @throws 400 if it is empty or too long. */
export const idempotencyKeyOf = (headers: IncomingHttpHeaders): string | undefined => {
	const key = headers['idempotency-key'];
	if (key === undefined) {
		return undefined;
	}

	if (typeof key !== 'string' || key === '' || key.length > MAX_KEY) {
		const field = 'Idempotency-Key';
		throw validationFailed([{message: `${field} must have 1 to ${MAX_KEY} characters`, field}]);
	}

	return key;
};

const lock = async (trx: Db, organizationId: string, key: string): Promise<boolean> => {
	const name = `idempotency ${organizationId} ${key}`;
	const lockOf = sql`SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) AS locked`;
	return onlyRow(await run<{locked: boolean}>(trx, lockOf)).locked;
};

/** Deletes a few expired keys; each create with a key does, so the table needs no job. */
const deleteExpired = (trx: Db, before: Date): Promise<unknown> =>
	execute(
		trx,
		sql`DELETE FROM idempotency_keys WHERE (organization_id, key) IN (
			SELECT organization_id, key FROM idempotency_keys WHERE created_at <= ${before}
			ORDER BY created_at LIMIT 10 FOR UPDATE SKIP LOCKED
		)`,
	);

type Once = {organizationId: string; key: string | undefined; request: LinkInput; now: Date};

/**
 * The first answer to a request with this key and body within 24 h, otherwise that of `create`. Only a success is
 * stored: a refusal creates nothing, so its key stays free for another attempt. Without a key each request creates.
 * @throws 409 if another body used the key, or while the first request is in progress.
 */
export const createOnce = async (
	trx: Db,
	{organizationId, key, request, now}: Once,
	create: () => Promise<LinkJson>,
): Promise<LinkJson> => {
	if (key === undefined) {
		return create();
	}

	if (!(await lock(trx, organizationId, key))) {
		throw idempotencyKeyInProgress();
	}

	const hash = createHash('sha256').update(canonicalJson(request)).digest();
	const oldest = new Date(now.getTime() - KEY_HOURS * 3_600_000);
	const [known] = (await trx('idempotency_keys')
		.where({organization_id: organizationId, key})
		.where('created_at', '>', oldest)) as Array<{request_hash: Buffer; response: LinkJson}>;
	if (known !== undefined) {
		if (!known.request_hash.equals(hash)) {
			throw idempotencyKeyReused();
		}

		return known.response;
	}

	const response = await create();
	await trx('idempotency_keys')
		.insert({
			organization_id: organizationId,
			key,
			request_hash: hash,
			response: JSON.stringify(response),
			created_at: now,
		})
		.onConflict(['organization_id', 'key'])
		.merge()
		.catch((error: unknown) => {
			throw translateViolation(error, {idempotency_keys_organization_id_fkey: organizationNotFound});
		});
	// Last, because the insert may wait for a row that another transaction has deleted here: both would wait.
	await deleteExpired(trx, oldest);
	return response;
};
