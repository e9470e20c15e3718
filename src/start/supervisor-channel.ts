import type {Socket} from 'node:net';
import type {SupervisorMessage, WorkerMessage} from './supervisor-messages.ts';

/** Resolves when the message is written or cannot be. */
export const sendToSupervisor = (message: WorkerMessage): Promise<void> =>
	new Promise((resolve) => {
		process.send?.(message, undefined, undefined, () => resolve());
	});

/** The channel to the supervisor keeps a serving worker alive, and must not keep one that has ended. */
export const releaseChannel = (): void => process.channel?.unref();

/** The supervisor's requests, from the first moment: messages without a listener are lost. */
export const receiveCommands = () => {
	let onSocket: (socket: Socket) => void = (socket) => socket.destroy();
	let onMessage: (message: SupervisorMessage) => void = () => {};
	const stopped = new Promise<void>((resolve) => {
		process.on('message', (message: SupervisorMessage, socket?: Socket) => {
			if (message.is === 'stop') {
				resolve();
			} else if (message.is === 'connection') {
				// Without a socket if the client has disconnected meanwhile.
				if (socket !== undefined) {
					onSocket(socket);
				}

				void sendToSupervisor({is: 'taken'});
			} else {
				onMessage(message);
			}
		});
	});
	return {
		stopped,
		takeSockets: (take: typeof onSocket): void => {
			onSocket = take;
		},
		onMessage: (listener: (message: SupervisorMessage) => void): void => {
			onMessage = listener;
		},
	};
};
