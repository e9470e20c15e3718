type Options = {
	/** The interval of heartbeats, and how long after one a process may trust its memory. */
	beatMs: number;
	trustMs: number;
};

/** The heartbeats that this process has received, of itself and of others, by the monotonic clock. */
export const createHeartbeats = ({beatMs, trustMs}: Options) => {
	const others = new Map<string, number>();
	/** The numbers of our latest heartbeats. */
	const own = {sent: 0, heard: 0};
	/** Our first and last heartbeat on the latest connection; null before the first. */
	let heard: {first: number; last: number} | null = null;
	let sentAt = 0;
	let trustedUntil = 0;
	/** When a connection came up that has not delivered a heartbeat of ours; null if it has. */
	let unheardSince: number | null = performance.now();

	/** A process that hears nothing knows nobody. */
	const knowsOthers = (): boolean => heard !== null && heard.last - heard.first >= beatMs;

	return {
		own,
		/** The number of the next heartbeat of ours, sent now. */
		next: (): number => {
			sentAt = performance.now();
			own.sent += 1;
			return own.sent;
		},
		heardOwn: (number: number): void => {
			// One that arrives late proves nothing of the time since the next was sent.
			if (number === own.sent) {
				trustedUntil = sentAt + trustMs;
			}

			unheardSince = null;
			own.heard = number;
			heard = {first: heard?.first ?? performance.now(), last: performance.now()};
		},
		heardOther: (id: string): void => {
			others.set(id, performance.now());
		},
		/** A new connection has heard nothing yet. */
		startAgain: (): void => {
			unheardSince = performance.now();
			heard = null;
		},
		endTrust: (): void => {
			trustedUntil = 0;
		},
		isTrusted: (): boolean => performance.now() < trustedUntil,
		/** A pooler in front of PostgreSQL may accept all messages and deliver none: such a process never trusts its memory. */
		isDeaf: (): boolean => unheardSince !== null && performance.now() - unheardSince > trustMs,
		/** Milliseconds since our last heartbeat arrived. */
		silentFor: (): number => (heard === null ? Number.POSITIVE_INFINITY : performance.now() - heard.last),
		/** All others that are known; null if it has not heard for long enough to know them. */
		known: (): string[] | null => (knowsOthers() ? [...others.keys()] : null),
		all: (): string[] => [...others.keys()],
		/** Others that may still trust their memory. */
		living: (): string[] => {
			const now = performance.now();
			return [...others].filter(([, heardAt]) => heardAt + trustMs >= now).map(([id]) => id);
		},
		/** Others that were silent while this process heard itself, or since it listens again. */
		gone: (): string[] => {
			const now = performance.now();
			const last = heard?.last ?? Number.POSITIVE_INFINITY;
			return [...others].filter(([, at]) => at + trustMs < now && at + trustMs < last).map(([id]) => id);
		},
		/**
		 * Whether nobody else is there. A process that receives nothing does not know whether others are silent. So only the
		 * time in which it heard itself counts.
		 */
		isAlone: (): boolean => {
			const last = heard?.last ?? 0;
			return knowsOthers() && [...others.values()].every((heardAt) => heardAt + trustMs < last);
		},
		forget: (id: string): void => {
			others.delete(id);
		},
	};
};
