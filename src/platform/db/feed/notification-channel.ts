import type {Client} from 'pg';
import type {Logger} from 'pino';
import {connectionsOf, type Db} from '../db.ts';
import {setUpSession} from '../session.ts';

const RECONNECT_MS = 250;

/** One channel of PostgreSQL's LISTEN and NOTIFY, on its own connection, which reconnects by itself. */
type NotificationChannel = {
	/** Sends a message, also to this process. @throws without a connection. */
	say(message: string): Promise<void>;
	/** Replaces a connection that does not respond. */
	reconnect(): void;
	close(): Promise<void>;
};

type Options = {
	db: Db;
	log: Logger;
	channel: string;
	/** Called with each message, in commit order. */
	onMessage: (message: string) => void;
	/** Called when messages begin to arrive from a server, see `setUpSession`; earlier ones are lost. */
	onUp: (server: string) => void;
	onDown: () => void;
};

export const openNotificationChannel = ({db, log, channel, onMessage, onUp, onDown}: Options): NotificationChannel => {
	let current: Client | null = null;
	/** The end of the connection's last statement: it runs one at a time. */
	let idle: Promise<unknown> = Promise.resolve();
	let closed = false;
	let timer: NodeJS.Timeout | null = null;

	const lose = (lost: Client | null) => {
		if (lost === null || current !== lost) {
			return;
		}

		current = null;
		onDown();
		lost.end().catch(() => {});
		if (!closed) {
			timer = setTimeout(connect, RECONNECT_MS);
			timer.unref();
		}
	};

	function connect(): void {
		const next = connectionsOf(db).createListener();
		next.on('error', () => lose(next));
		next.on('end', () => lose(next));
		next.on('notification', ({payload}) => onMessage(payload ?? ''));
		current = next;
		const listening = connectionsOf(db)
			.connect(next)
			.then(() => setUpSession(next))
			.then(async (server) => {
				await next.query(`LISTEN ${channel}`);
				return server;
			});
		idle = listening;
		listening.then(onUp).catch((error: unknown) => {
			log.debug({err: error, channel}, 'could not listen');
			lose(next);
		});
	}

	connect();
	return {
		say: async (message) => {
			const connection = current;
			if (connection === null) {
				throw new Error(`nobody listens to ${channel}`);
			}

			const said = idle.catch(() => {}).then(() => connection.query('SELECT pg_notify($1, $2)', [channel, message]));
			idle = said;
			await said;
		},
		reconnect: () => lose(current),
		close: async () => {
			closed = true;
			if (timer !== null) {
				clearTimeout(timer);
			}

			const last = current;
			current = null;
			await last?.end().catch(() => {});
		},
	};
};
