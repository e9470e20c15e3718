/** Choices with their weights, which need not add up to one. */
export type Weighted<T> = ReadonlyArray<readonly [choice: T, weight: number]>;

/** The same seed gives the same sequence on every machine. */
export type Random = {
	/** Uniform, from `low` up to but not including `high`. */
	between: (low: number, high: number) => number;
	/** Uniform whole number, from 0 up to but not including `count`. */
	below: (count: number) => number;
	chance: (probability: number) => boolean;
	pick: <T>(choices: Weighted<T>) => T;
	/** Log-normal: half of the values are below `median`; `spread` is the deviation of their logarithm. */
	logNormal: (median: number, spread: number) => number;
	/** Uniform on a logarithmic scale. */
	logUniform: (low: number, high: number) => number;
};

/** Mulberry32. */
const uniform = (seed: number): (() => number) => {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
};

export const createRandom = (seed: number): Random => {
	const next = uniform(seed);
	const between = (low: number, high: number) => low + next() * (high - low);
	return {
		between,
		below: (count) => Math.floor(next() * count),
		chance: (probability) => next() < probability,
		pick: <T>(choices: Weighted<T>): T => {
			let left = next() * choices.reduce((total, [, weight]) => total + weight, 0);
			const found = choices.find(([, weight]) => {
				left -= weight;
				return left < 0;
			});
			const [choice] = found ?? choices.at(-1) ?? [];
			if (choice === undefined) {
				throw new Error('nothing to choose from');
			}

			return choice;
		},
		logNormal: (median, spread) =>
			median * Math.exp(spread * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())),
		logUniform: (low, high) => Math.exp(between(Math.log(low), Math.log(high))),
	};
};

/** Weights of a list whose second entry is half as popular as its first, its third a third, and so on. */
export const zipf = <T>(choices: readonly T[]): Weighted<T> =>
	choices.map((choice, index) => [choice, 1 / (index + 1)]);
