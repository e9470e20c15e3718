/** Edits that turn one text into another: insertions, deletions, replacements (Levenshtein). */
const distance = (one: string, other: string): number => {
	let above = Array.from({length: other.length + 1}, (_, index) => index);
	for (const [row, letter] of [...one].entries()) {
		const line = [row + 1];
		for (const [column, wanted] of [...other].entries()) {
			const replaced = (above[column] ?? 0) + (letter === wanted ? 0 : 1);
			line.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (line[column] ?? 0) + 1));
		}

		above = line;
	}

	return above.at(-1) ?? 0;
};

/** Longer texts are no typing errors, and would take long to compare. */
const LONGEST = 100;

/** The known name that was probably meant, in any case; null if none is near. */
export const meant = (typed: string, names: readonly string[]): string | null => {
	const text = typed.trim().toLowerCase().slice(0, LONGEST);
	const [nearest] = names
		.map((name) => ({name, edits: distance(text, name.toLowerCase())}))
		.toSorted((one, other) => one.edits - other.edits);
	return nearest !== undefined && nearest.edits <= Math.max(1, Math.floor(nearest.name.length / 3))
		? nearest.name
		: null;
};

/** A refusal of a value that lists what is allowed, with the name that was probably meant. */
export const withMeant = (refusal: string): string =>
	refusal.replace(
		/'([^'\n]{0,99})' is (?:invalid\. Allowed choices are|none of) ([^.\n]{0,999})\./,
		(whole: string, typed: string, names: string) => {
			const name = meant(typed, names.split(', '));
			return name === null ? whole : `${whole} Did you mean ${name}?`;
		},
	);
