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
const MAX_LENGTH = 100;

/** The known name that was probably meant, in any case; null if none is near. */
export const meant = (typed: string, names: readonly string[]): string | null => {
	const text = typed.trim().toLowerCase().slice(0, MAX_LENGTH);
	const [nearest] = names
		.map((name) => ({name, edits: distance(text, name.toLowerCase())}))
		.toSorted((one, other) => one.edits - other.edits);
	return nearest !== undefined && nearest.edits <= Math.max(1, Math.floor(nearest.name.length / 3))
		? nearest.name
		: null;
};

/** A refusal of a value that lists the allowed ones, with the name that was probably meant. */
export const withMeant = (refusal: string): string => {
	const verdict = /' is (?:invalid\. Allowed choices are|none of) /.exec(refusal);
	const start = verdict === null ? 0 : verdict.index + verdict[0].length;
	const end = refusal.indexOf('.', start);
	if (verdict === null || end === -1) {
		return refusal;
	}

	const typed = refusal.slice(refusal.lastIndexOf("'", verdict.index - 1) + 1, verdict.index);
	const name = meant(typed, refusal.slice(start, end).split(', '));
	return name === null ? refusal : `${refusal.slice(0, end + 1)} Did you mean ${name}?${refusal.slice(end + 1)}`;
};
