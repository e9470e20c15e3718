import {Socket} from 'node:net';
import pg from 'pg';
import {setUpSession} from './session.ts';

/** SQLSTATE of a write to a standby or another read-only database. */
export const READ_ONLY = '25006';

type Open = {socket: Socket; server: string | null};

/**
 * The open connections of a database. Statements have no timeout, so a statement on a server that vanished silently would
 * wait for the operating system's timeout, a quarter of an hour. Breaking off its connection fails the statement at once.
 */
export class Connections {
	readonly #settings: pg.ClientConfig;
	readonly #listenSettings: pg.ClientConfig | null;
	readonly #open = new Map<pg.Client, Open>();
	readonly #unusable = new WeakSet<pg.Client>();
	#isOver = false;

	/** @param listenSettings an address whose sessions last, if a pooler may share those of `settings`. */
	constructor(settings: pg.ClientConfig, listenSettings: pg.ClientConfig | null) {
		this.#settings = settings;
		this.#listenSettings = listenSettings;
	}

	/** Whether a pooler may lend the sessions to others between transactions. */
	get isShared(): boolean {
		return this.#listenSettings !== null;
	}

	/** A client whose session lasts, for `LISTEN`; `connect` connects it. */
	createListener(): pg.Client {
		return this.#create(this.#listenSettings ?? this.#settings);
	}

	/**
	 * Connects the client, or closes its socket: the driver leaves it open if it gives up by itself, such as without a
	 * password, and keeps the process alive until PostgreSQL times out a minute later.
	 */
	async connect(client: pg.Client): Promise<void> {
		try {
			if (this.#isOver) {
				throw new Error('Connection terminated: the process stops');
			}

			await client.connect();
		} catch (error) {
			this.breakOff(client);
			throw error;
		}
	}

	/** A connection with a prepared session. */
	async open(): Promise<pg.Client> {
		const client = this.#create(this.#settings);
		const discard = () => this.#unusable.add(client);
		client.on('error', discard);
		client.on('end', discard);
		// A session keeps its mode: a session that was opened read-only stays so when the database becomes writable again.
		client.connection.on('errorMessage', ({code}: {code?: string}) => code === READ_ONLY && discard());
		await this.connect(client);
		try {
			const server = await setUpSession(client, {isShared: this.isShared});
			const open = this.#open.get(client);
			if (open !== undefined) {
				open.server = server;
			}

			return client;
		} catch (error) {
			await client.end().catch(() => {});
			throw error;
		}
	}

	/** Whether the pool may use an open connection again. */
	isUsable(client: pg.Client): boolean {
		return !this.#unusable.has(client);
	}

	/** Ends a connection at once, even if its server is silent. */
	breakOff(client: pg.Client): void {
		this.#unusable.add(client);
		this.#open.get(client)?.socket.destroy();
		this.#open.delete(client);
	}

	/** Breaks off the connections to other servers than this one, as `setUpSession` names it. @returns how many. */
	keepOnly(server: string): number {
		const others = [...this.#open].filter(([, open]) => open.server !== null && open.server !== server);
		for (const [client] of others) {
			this.breakOff(client);
		}

		return others.length;
	}

	/** Breaks off all connections, and opens none any more. */
	end(): void {
		this.#isOver = true;
		for (const client of this.#open.keys()) {
			this.breakOff(client);
		}
	}

	#create(settings: pg.ClientConfig): pg.Client {
		const socket = new Socket();
		const client = new pg.Client({...settings, stream: () => socket});
		this.#open.set(client, {socket, server: null});
		client.once('end', () => this.#open.delete(client));
		return client;
	}
}
