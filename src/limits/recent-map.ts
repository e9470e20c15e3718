/**
 * Values by subject, made when they are first asked for, and forgotten some time after they were last asked for: two
 * generations, of which the older one is dropped when `lifeMs` have passed. That frees idle subjects without a timer
 * and without a search. `most` new ones in one generation end it early: under a flood of addresses the memory stays
 * bounded, at the price of forgetting those that were silent longest.
 */
export const createRecentMap = <V>({lifeMs, most, make}: {lifeMs: number; most: number; make: () => V}) => {
	let current = new Map<string, V>();
	let previous = new Map<string, V>();
	let began = Number.NEGATIVE_INFINITY;
	return {
		/** The value of `subject`, at `now` (milliseconds, never less than before). */
		of: (subject: string, now: number): V => {
			if (now - began >= lifeMs || current.size >= most) {
				previous = now - began >= 2 * lifeMs ? new Map() : current;
				current = new Map();
				began = now;
			}

			const known = current.get(subject);
			if (known !== undefined) {
				return known;
			}

			const value = previous.get(subject) ?? make();
			current.set(subject, value);
			return value;
		},
		clear: (): void => {
			current = new Map();
			previous = new Map();
		},
	};
};

export type RecentMap<V> = ReturnType<typeof createRecentMap<V>>;
