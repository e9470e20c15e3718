import {randomUUID} from 'node:crypto';
import {READ_ONLY} from '../connections.ts';
import {type DatabaseFault, explainDatabaseError} from '../database-faults.ts';
import {connectionsOf, type Db} from '../db.ts';

/** How long a notification may take. */
const DELIVERY_MS = 5000;

const UNHEARD: DatabaseFault = {
	variable: 'DATABASE_LISTEN_URL',
	fault: 'what is announced through DATABASE_URL is not heard there',
	remedy: 'Name the same database on the same server, without a pooler in transaction mode',
};

/** Whether notifications sent through the pool arrive at the address for listening. */
export const checkListening = async (db: Db): Promise<DatabaseFault | null> => {
	const connections = connectionsOf(db);
	const client = connections.createListener();
	client.on('error', () => {});
	const token = randomUUID();
	try {
		await connections.connect(client);
		let late: NodeJS.Timeout | undefined;
		const heard = new Promise<boolean>((resolve) => {
			late = setTimeout(() => resolve(false), DELIVERY_MS);
			client.on('notification', ({payload}) => payload === token && resolve(true));
		});
		try {
			await client.query('LISTEN oplink_check');
			await db.raw("SELECT pg_notify('oplink_check', ?)", [token]);
			return (await heard) ? null : UNHEARD;
		} finally {
			clearTimeout(late);
		}
	} catch (error) {
		if ((error as {code?: unknown}).code === READ_ONLY) {
			// Nothing is announced on a standby; another check reports it.
			return null;
		}

		const known = explainDatabaseError(error);
		return {
			variable: 'DATABASE_LISTEN_URL',
			fault: known?.fault ?? `it cannot be used (${(error as Error).message})`,
			remedy: (known?.remedy ?? 'Correct it').replaceAll('DATABASE_URL', 'DATABASE_LISTEN_URL'),
		};
	} finally {
		await client.end().catch(() => {});
	}
};
