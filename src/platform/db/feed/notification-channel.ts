import type {Client} from 'pg';
import type {Logger} from 'pino';
import {Loop} from '../../loop.ts';
import {connectionsOf, type Db} from '../db.ts';
import {setUpSession} from '../session.ts';

/**
 * The cached values to invalidate: of one link, of an organization, of all domains and their links, of association
 * files, or all.
 */
export type Change =
	| {kind: 'link'; orgKey: string; shortCode: string}
	| {kind: 'organization'; orgKey: string}
	| {kind: 'domains'}
	| {kind: 'files'}
	| {kind: 'everything'};

/** The change in a trigger's message; null for other messages. */
export const changeOf = (payload: string): Change | null => {
	const text = payload.slice(2);
	switch (payload.slice(0, 2)) {
		case 'l:': {
			const slash = text.indexOf('/');
			return {kind: 'link', orgKey: text.slice(0, slash), shortCode: text.slice(slash + 1)};
		}

		case 'o:':
			return {kind: 'organization', orgKey: text};
		default:
			return payload === 'd' ? {kind: 'domains'} : payload === 'f' ? {kind: 'files'} : null;
	}
};

const RECONNECT_MS = 250;

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

/** One channel of PostgreSQL's LISTEN and NOTIFY, on its own connection, which reconnects by itself. */
export class NotificationChannel {
	readonly #options: Options;
	readonly #connecting = new Loop(async () => {
		this.#connect();
		return null;
	});
	#current: Client | null = null;
	/** The end of the connection's last statement: it runs one at a time. */
	#idle: Promise<unknown> = Promise.resolve();

	constructor(options: Options) {
		this.#options = options;
		void this.#connecting.run();
	}

	/** Sends a message, also to this process. @throws without a connection. */
	async say(message: string): Promise<void> {
		const {channel} = this.#options;
		const connection = this.#current;
		if (connection === null) {
			throw new Error(`no connection listens to ${channel}`);
		}

		this.#idle = this.#idle
			.catch(() => {})
			.then(() => connection.query('SELECT pg_notify($1, $2)', [channel, message]));
		await this.#idle;
	}

	/** Replaces a connection that does not respond. */
	reconnect(): void {
		this.#lose(this.#current);
	}

	async close(): Promise<void> {
		await this.#connecting.stop();
		const last = this.#current;
		this.#current = null;
		await last?.end().catch(() => {});
	}

	#connect(): void {
		const {db, log, channel, onMessage, onUp} = this.#options;
		const connections = connectionsOf(db);
		const client = connections.createListener();
		client.on('error', () => this.#lose(client));
		client.on('end', () => this.#lose(client));
		client.on('notification', ({payload}) => onMessage(payload ?? ''));
		this.#current = client;
		const listen = async (): Promise<string> => {
			await connections.connect(client);
			const server = await setUpSession(client);
			await client.query(`LISTEN ${channel}`);
			return server;
		};
		const listening = listen();
		this.#idle = listening;
		listening.then(onUp).catch((error: unknown) => {
			log.debug({err: error, channel}, 'could not listen');
			this.#lose(client);
		});
	}

	#lose(lost: Client | null): void {
		if (lost !== null && this.#current === lost) {
			this.#current = null;
			this.#options.onDown();
			// Its statements end now, even if its server is silent.
			connectionsOf(this.#options.db).breakOff(lost);
			this.#connecting.wake(RECONNECT_MS);
		}
	}
}
