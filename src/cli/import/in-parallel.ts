import {OplinkApiError} from '../../client/errors.ts';

/** Runs `work` for up to `limit` items at once and yields results as they complete. */
export async function* inParallel<T, R>(
	items: AsyncIterable<T> | Iterable<T>,
	limit: number,
	work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
	const underWay = new Map<number, Promise<[number, R]>>();
	const next = async (): Promise<R> => {
		const [key, result] = await Promise.race(underWay.values());
		underWay.delete(key);
		return result;
	};
	let key = 0;
	for await (const item of items) {
		const own = key++;
		const promise = work(item).then((result): [number, R] => [own, result]);
		// The first failure ends the import; concurrent ones must not crash the process.
		promise.catch(() => {});
		underWay.set(own, promise);
		if (underWay.size >= limit) {
			yield await next();
		}
	}

	while (underWay.size > 0) {
		yield await next();
	}
}

/** How often a request waits for its own first attempt. */
const MAX_WAITS = 3;

/** A retry that arrived while the first request was running. */
const isUnderWay = (error: OplinkApiError): boolean => error.errorCode === 'idempotency_key_in_progress';

/**
 * The client gives up after a few retries (contract/sdk 8). Many requests are more patient: they wait as long as the
 * rate limit needs, and a little for the first attempt of their own.
 */
export const withPatience = async <T>(
	request: () => Promise<T>,
	sleep: (seconds: number) => Promise<void>,
): Promise<T> => {
	for (let meetings = 0; ; ) {
		try {
			return await request();
		} catch (error) {
			if (!(error instanceof OplinkApiError)) {
				throw error;
			}

			if (error.status === 429) {
				await sleep(error.retryAfterSeconds ?? 1);
			} else if (isUnderWay(error) && meetings < MAX_WAITS) {
				meetings += 1;
				await sleep(meetings / 2);
			} else {
				throw error;
			}
		}
	}
};
