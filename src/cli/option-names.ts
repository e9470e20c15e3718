import type {Command} from 'commander';
import {kebab} from './link-fields.ts';
import {type FaultText, plainFault} from './report-error.ts';

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

/** The known name nearest to a mistyped one, ignoring case; null if none is near. */
export const nearestName = (typed: string, names: readonly string[]): string | null => {
	const text = typed.trim().toLowerCase().slice(0, MAX_LENGTH);
	const [nearest] = names
		.map((name) => ({name, edits: distance(text, name.toLowerCase())}))
		.toSorted((one, other) => one.edits - other.edits);
	return nearest !== undefined && nearest.edits <= Math.max(1, Math.floor(nearest.name.length / 3))
		? nearest.name
		: null;
};

/** A refusal that lists the allowed values, with a suggestion: the one nearest to the given value. */
export const withSuggestion = (refusal: string): string => {
	const verdict = /' is (?:invalid\. Allowed choices are|none of) /.exec(refusal);
	const start = verdict === null ? 0 : verdict.index + verdict[0].length;
	const end = refusal.indexOf('.', start);
	if (verdict === null || end === -1) {
		return refusal;
	}

	const typed = refusal.slice(refusal.lastIndexOf("'", verdict.index - 1) + 1, verdict.index);
	const name = nearestName(typed, refusal.slice(start, end).split(', '));
	return name === null ? refusal : `${refusal.slice(0, end + 1)} Did you mean ${name}?${refusal.slice(end + 1)}`;
};

/** Fields whose options have another name. */
const otherNames: Readonly<Record<string, string>> = {organization: 'org', url: 'address'};

/** Longer values are not repeated in a message. */
const MAX_SHOWN = 60;

/** The names that an option of a field may have: `events` is `--event`, `templateId` is `--template`. */
const namesOf = (field: string): string[] => {
	const name = kebab(field);
	return [otherNames[field] ?? name, name.replace(/s$/, ''), name.replace(/-id$/, '')];
};

/** The option or argument that gave a field, and its value as text; null if the command line gave neither. */
const optionOf = (
	command: Command,
	field: string,
	isMissing: boolean,
): {label: string; value: string | null} | null => {
	const words = field.split('.');
	const names = words.filter((word) => !/^\d+$/.test(word));
	const index = Number(words.find((word) => /^\d+$/.test(word)) ?? 0);
	for (const [name, part] of [
		[names.join('-'), null],
		[names[0] ?? '', names[1] ?? null],
		[names.at(-1) ?? '', null],
	] as const) {
		const wanted = namesOf(name);
		const option = command.options.find((one) => !one.hidden && wanted.includes(one.name()));
		const given: unknown = option && command.getOptionValue(option.attributeName());
		if (option?.long && (given !== undefined || isMissing)) {
			// If the option has several values, the label contains the refused one.
			const isList = Array.isArray(given) && part === null;
			const value: unknown = isList ? given[index] : part === null ? given : null;
			const text = typeof value === 'string' ? value : null;
			const shown = isList && text !== null && text.length <= MAX_SHOWN ? text : part;
			return {label: shown === null ? option.long : `${option.long} ${shown}`, value: text};
		}

		const at = command.registeredArguments.findIndex((one) => wanted.includes(one.name()) || one.name() === name);
		if (at !== -1) {
			return {label: (command.registeredArguments[at]?.name() ?? '').toUpperCase(), value: command.args[at] ?? null};
		}
	}

	return null;
};

/** A fault of a field in terms of options and arguments, with the nearest allowed value. */
export const faultInOptions =
	(command: Command): FaultText =>
	(fault) => {
		const {field, message: text} = fault;
		const typed = field === undefined ? null : optionOf(command, field, / is required$/.test(text));
		if (field === undefined || typed === null) {
			return plainFault(fault);
		}

		const sentence = text.startsWith(field) ? `${typed.label}${text.slice(field.length)}` : `${typed.label}: ${text}`;
		const [, list] = text.split(' must be one of [', 2);
		const allowed = list?.endsWith(']') ? list.slice(0, -1) : undefined;
		const name = allowed === undefined || typed.value === null ? null : nearestName(typed.value, allowed.split(', '));
		return name === null ? sentence : `${sentence}; did you mean ${name}?`;
	};
