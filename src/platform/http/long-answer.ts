import type {Readable} from 'node:stream';
import {type Clock, MINUTE_MS} from '../clock.ts';
import {HttpError} from '../errors.ts';
import type {Exchange} from './envelope.ts';

/** The interval of checks whether the caller may still have a long answer. */
const CHECK_MS = 1000;

/** The least that a reader must take in a minute while more waits for it, because others wait for its turn. */
const MIN_BYTES = 4 * 1024 * 1024;

type Rules = {
	/** @throws the refusal that the caller would get by now. */
	again: () => Promise<unknown>;
	/** Whether the organization that the answer is about is suspended. */
	isSuspended: () => Promise<boolean>;
};

/**
 * Ends a long answer, by its connection, once its caller may no longer have it: the token was revoked or has ended, the
 * organization was suspended meanwhile, in any process. Also if the caller reads too slowly.
 */
export const watchLongAnswer = (
	body: Readable,
	{req: {socket}}: Pick<Exchange, 'req'>,
	{clock, again, isSuspended}: Rules & {clock: Clock},
): void => {
	const taken = (): number => socket.bytesWritten - socket.writableLength;
	let measured = {at: clock.now().getTime(), taken: taken()};
	let isChecking = false;
	/** Null before the first check: an operator may read data of an organization that was already suspended. */
	let wasSuspended: boolean | null = null;
	const check = async (): Promise<void> => {
		isChecking = true;
		try {
			const isNow = await isSuspended();
			wasSuspended ??= isNow;
			await again();
			if (isNow && !wasSuspended) {
				socket.destroy();
			}
		} catch (error) {
			// While the database or a provider is unavailable, nobody is refused anything that was granted.
			if (error instanceof HttpError && error.status < 500) {
				socket.destroy();
			}
		}

		isChecking = false;
	};

	// Not awaited: the answer may hold a connection of the database, and all could be waiting for another one.
	void check();
	const timer = setInterval(() => {
		const at = clock.now().getTime();
		if (at - measured.at >= MINUTE_MS) {
			const isSlow = socket.writableLength > 0 && taken() - measured.taken < MIN_BYTES;
			measured = {at, taken: taken()};
			if (isSlow) {
				socket.destroy();
			}
		}

		if (!isChecking) {
			void check();
		}
	}, CHECK_MS).unref();
	body.once('close', () => clearInterval(timer));
};
