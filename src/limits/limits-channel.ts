import type {Channel, OfSupervisor} from './worker-limiter.ts';

/** What a worker and its supervisor say to each other about limits, among their other messages. */
export const limitsChannel: Channel = {
	send: (message) => {
		// One that cannot be sent is not answered, which is waited for.
		process.send?.(message, undefined, undefined, () => {});
	},
	onMessage: (listener) => {
		const hear = (message: {is: unknown}) => {
			if (message.is === 'limits') {
				listener(message as OfSupervisor);
			}
		};
		process.on('message', hear);
		return () => process.off('message', hear);
	},
};
