import type {Command} from 'commander';
import {meant} from './did-you-mean.ts';
import {type FaultText, plainFault} from './report-error.ts';

/** Options whose fields have other names. */
const otherNames: Readonly<Record<string, string>> = {organization: 'org', url: 'address'};

/** A longer value is not repeated. */
const MAX_SHOWN = 60;

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The names that an option of a field may have: `events` is `--event`, `templateId` is `--template`. */
const namesOf = (field: string): string[] => {
	const name = kebab(field);
	return [otherNames[field] ?? name, name.replace(/s$/, ''), name.replace(/-id$/, '')];
};

/** What was typed for a field: an option or an argument, with the value that is meant; null if neither was given. */
const typedFor = (
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
			// Of several values the label says which.
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

/** A fault of a field in the words of the command line, with the value that was probably meant. */
export const inOptions =
	(command: Command): FaultText =>
	(fault) => {
		const {field, message: text} = fault;
		const typed = field === undefined ? null : typedFor(command, field, / is required$/.test(text));
		if (field === undefined || typed === null) {
			return plainFault(fault);
		}

		const said = text.startsWith(field) ? `${typed.label}${text.slice(field.length)}` : `${typed.label}: ${text}`;
		const [, list] = text.split(' must be one of [', 2);
		const allowed = list?.endsWith(']') ? list.slice(0, -1) : undefined;
		const name = allowed === undefined || typed.value === null ? null : meant(typed.value, allowed.split(', '));
		return name === null ? said : `${said}; did you mean ${name}?`;
	};
