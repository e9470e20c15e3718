import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';

/** JSON of a fake's state: maps as their entries, dates marked, functions omitted. */
export const stateJson = (state: object): string =>
	JSON.stringify(
		state,
		// `value` of a Date is its text already.
		function (this: Record<string, unknown>, name: string, value: unknown) {
			const raw = this[name];
			if (raw instanceof Date) {
				return {$date: raw.getTime()};
			}

			return raw instanceof Map ? {$map: [...raw]} : value;
		},
	);

const readState = (text: string): Record<string, unknown> =>
	JSON.parse(text, (_, value) => {
		if (typeof value === 'object' && value !== null && '$map' in value) {
			return new Map(value.$map);
		}

		return typeof value === 'object' && value !== null && '$date' in value ? new Date(value.$date) : value;
	});

/** Saves a fake's state, so that it survives a restart as the service's database does. */
export const saveState = (file: string, state: object): void => {
	mkdirSync(path.dirname(file), {recursive: true});
	writeFileSync(file, stateJson(state));
};

/** Restores the saved state into the maps and lists of `state`, if there is any. */
export const loadState = (file: string, state: object): void => {
	let text: string;
	try {
		text = readFileSync(file, 'utf8');
	} catch {
		return;
	}

	for (const [name, kept] of Object.entries(readState(text))) {
		const mine: unknown = Reflect.get(state, name);
		if (mine instanceof Map && kept instanceof Map) {
			for (const [key, value] of kept) {
				// Existing values come from the current settings.
				if (!mine.has(key)) {
					mine.set(key, value);
				}
			}
		} else if (Array.isArray(mine) && Array.isArray(kept)) {
			mine.push(...kept);
		}
	}
};
