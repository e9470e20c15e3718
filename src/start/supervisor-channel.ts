import type {Socket} from 'node:net';
import type {Secret, Secrets} from '../platform/config/secrets.ts';
import type {LimitChecks, LimitWaits} from '../platform/limits/worker-limiter.ts';
import type {Figures} from '../platform/metrics/snapshot.ts';
import type {ClicksMessage} from './worker-clicks.ts';

/** A text for all other workers, see `PeerLine`. */
export type LineMessage = {type: 'line'; text: string};

/**
 * A worker's messages to its supervisor: starting, ready, connection received, stop requested, its counters (on request or at its
 * end), scraped.
 */
export type WorkerMessage =
	| {type: 'starting' | 'ready' | 'taken' | 'leaving'}
	| {type: 'figures'; round: number | null; figures: Figures}
	| {type: 'scraped'; request: number}
	| LineMessage
	| ClicksMessage
	| LimitChecks;

/** The secrets of the environment, which a worker's own does not have: the answer to `starting`. */
export type SecretsMessage = {type: 'secrets'; known: Array<[name: string, Secret]>};

/**
 * A supervisor's messages to a worker: serve the attached connection, print the welcome, stop gracefully, report your
 * counters; the counters of all.
 */
export type SupervisorMessage =
	| {type: 'connection' | 'welcome' | 'stop'}
	| {type: 'count'; round: number; isScrape: boolean}
	| {type: 'figures_of_all'; request: number; figures: Figures}
	| SecretsMessage
	| LineMessage
	| ClicksMessage
	| LimitWaits;

/** Resolves when the message is written or cannot be. */
export const sendToSupervisor = (message: WorkerMessage): Promise<void> =>
	new Promise((resolve) => {
		process.send?.(message, undefined, undefined, () => resolve());
	});

/** The channel to the supervisor keeps a serving worker alive, but must not keep a stopped one alive. */
export const releaseChannel = (): void => process.channel?.unref();

/** The supervisor's requests, from the first moment: messages without a listener are lost. */
export const receiveCommands = () => {
	let onSocket: (socket: Socket) => void = (socket) => socket.destroy();
	let onMessage: (message: SupervisorMessage) => void = () => {};
	let onSecrets: (secrets: Secrets) => void = () => {};
	const secrets = new Promise<Secrets>((resolve) => {
		onSecrets = resolve;
	});
	const stopped = new Promise<void>((resolve) => {
		process.on('message', (message: SupervisorMessage, socket?: Socket) => {
			if (message.type === 'stop') {
				resolve();
			} else if (message.type === 'secrets') {
				onSecrets({known: new Map(message.known), faults: []});
			} else if (message.type === 'connection') {
				// The socket is missing if the client has disconnected meanwhile.
				if (socket !== undefined) {
					onSocket(socket);
				}

				void sendToSupervisor({type: 'taken'});
			} else {
				onMessage(message);
			}
		});
	});
	void sendToSupervisor({type: 'starting'});
	return {
		secrets,
		stopped,
		takeSockets: (take: typeof onSocket): void => {
			onSocket = take;
		},
		onMessage: (listener: (message: SupervisorMessage) => void): void => {
			onMessage = listener;
		},
	};
};
