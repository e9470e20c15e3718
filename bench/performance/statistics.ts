/** The middle of the numbers; of an even count the upper one of the two. */
export const median = (numbers: Iterable<number>): number => {
	const sorted = [...numbers].sort((a, b) => a - b);
	return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

/** @param sorted in ascending order. @param part such as 0.99. */
export const quantile = (sorted: ArrayLike<number>, part: number): number =>
	sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

export type Ratio = {value: number; low: number; high: number};

/** The ratio of the medians, and between what the ratio lay in single rounds. */
export const ratioOf = (numerators: number[], denominators: number[]): Ratio => {
	const each = numerators.map((value, round) => value / (denominators[round] ?? Number.NaN));
	return {
		value: median(numerators) / median(denominators),
		low: Math.min(...each),
		high: Math.max(...each),
	};
};

/**
 * Runs the contestants in turns, A B A B, so that what else the machine does meets all of them. The first round warms
 * up and does not count.
 */
export const inTurns = async <T>(
	rounds: number,
	contestants: Record<string, () => Promise<T>>,
): Promise<(name: string) => T[]> => {
	const samples = new Map<string, T[]>(Object.keys(contestants).map((name) => [name, []]));
	for (let round = 0; round <= rounds; round += 1) {
		for (const [name, run] of Object.entries(contestants)) {
			const sample = await run();
			if (round > 0) {
				samples.get(name)?.push(sample);
			}
		}
	}

	return (name) => samples.get(name) ?? [];
};
