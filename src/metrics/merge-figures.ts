import {ACROSS, type Figure} from './instruments.ts';

/** Merges the figures of several processes, by name and labels, as each instrument defines. */
export const mergeFigures = (processes: ReadonlyArray<readonly Figure[]>): Figure[] => {
	const merged = new Map<string, {figure: Figure; series: Map<string, number>}>();
	for (const figure of processes.flat()) {
		const known = merged.get(figure.name);
		if (known === undefined) {
			merged.set(figure.name, {figure, series: new Map(figure.series)});
			continue;
		}

		const {merge} = ACROSS[figure.across];
		for (const [series, value] of figure.series) {
			const other = known.series.get(series);
			known.series.set(series, other === undefined ? value : merge(other, value));
		}
	}

	return [...merged.values()].map(({figure, series}) => ({...figure, series: [...series]}));
};

/** The figures that outlive a process that has ended or does not answer. */
export const outliving = (figures: readonly Figure[]): Figure[] =>
	figures.filter(({across}) => ACROSS[across].outlives);
