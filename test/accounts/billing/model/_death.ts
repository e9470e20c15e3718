import type {Db} from '../../../../src/platform/db/db.ts';
import type {FakePaymob} from '../../../fakes/paymob/paymob.ts';
import type {FakeStripe} from '../../../fakes/stripe/stripe.ts';
import type {Connections} from './_connections.ts';

/** Makes the service die in the middle of something, as a killed process does: whatever it would do next is not done. */
export type Death = ReturnType<typeof prepareDeath>;

type Inner = {acquireConnection(): Promise<unknown>};

export const prepareDeath = (db: Db, connections: Connections, gateways: ReadonlyArray<FakeStripe | FakePaymob>) => {
	const client = db.client as Inner;
	const {acquireConnection: acquire} = client;
	let left = Number.POSITIVE_INFINITY;
	let dead = false;

	const gone = () => new Error('The service was killed.');

	/** Counts one thing. @returns whether the service is dead now. */
	const isDeadNow = (): boolean => {
		left -= 1;
		if (!dead && left <= 0) {
			dead = true;
			connections.break();
		}

		return dead;
	};
	connections.before(() => (isDeadNow() ? gone() : null));
	client.acquireConnection = () => (dead ? Promise.reject(gone()) : acquire.call(client));
	/** No call to a gateway fails any more but those of a dead service. */
	const clearFaults = (): void => {
		for (const gateway of gateways) {
			gateway.clearFaults();
			gateway.fail({times: Number.POSITIVE_INFINITY, when: isDeadNow, drop: true});
			gateway.fail({times: Number.POSITIVE_INFINITY, when: isDeadNow, drop: true, afterwards: true});
		}
	};
	clearFaults();

	return {
		/**
		 * Runs `work`, and dies before the `at`th thing that it does: a statement, a call to a gateway, or the arrival of
		 * the answer of one. Its connections break then, and an open transaction with them.
		 * @returns whether it came to that.
		 */
		at: async (at: number, work: () => Promise<void>): Promise<boolean> => {
			left = at;
			await work();
			const died = dead;
			left = Number.POSITIVE_INFINITY;
			dead = false;
			return died;
		},
		isDead: (): boolean => dead,
		clearFaults,
	};
};
