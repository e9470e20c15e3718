/** The signals that stop a server. */
export const STOPS = ['SIGINT', 'SIGTERM'] as const;

export type Stop = (typeof STOPS)[number];

/** The first of them to come. */
export const nextSignal = (): Promise<Stop> =>
	new Promise((resolve) => {
		for (const signal of STOPS) {
			process.once(signal, () => resolve(signal));
		}
	});

/** The exit code of a start that a signal ends (contract/operations 15). systemd, which sends SIGTERM, expects 0. */
export const stoppedEarly: Readonly<Record<Stop, number>> = {SIGINT: 130, SIGTERM: 0};
