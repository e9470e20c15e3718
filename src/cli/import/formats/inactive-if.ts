import {shortened, UnusableRow} from './foreign-fields.ts';
import {truthOf} from './truth.ts';

/**
 * `isActive` of a row, by its fields that say that it is archived.
 * @throws UnusableRow for a value that is not understood: a link of the past must not come alive.
 */
export const inactiveIf = (fields: Record<string, unknown>): {isActive?: false} => {
	for (const [name, value] of Object.entries(fields)) {
		if (truthOf(value) === null) {
			throw new UnusableRow(`${name} '${shortened(String(value))}' is neither true nor false`);
		}
	}

	return Object.values(fields).some((value) => truthOf(value)) ? {isActive: false} : {};
};
