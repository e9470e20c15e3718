import {ACROSS, type Figure} from './instruments.ts';

/** The figures of several processes as those of one: by name and labels, each as its instrument says. */
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

/** What still counts of a process that has ended, or does not answer. */
export const outliving = (figures: readonly Figure[]): Figure[] =>
	figures.filter(({across}) => ACROSS[across].outlives);
