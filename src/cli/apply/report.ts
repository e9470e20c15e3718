import type {Change} from './changes.ts';

const MARKS = {create: '+', update: '~', delete: '-'} as const;

/** A change by its name: `Template Sale (Ab12)`. */
export const labelOf = ({kind, name, org: {label}}: Change): string =>
	[kind, name, label === name ? '' : `(${label})`].filter((word) => word !== '').join(' ');

/** A change as people read it: its label, and below it a line for each field. */
export const changeText = (change: Change): string => {
	const text = (value: unknown) => (value === '(set)' ? value : JSON.stringify(value));
	const fields = change.fields.map(({field, from, to}) => {
		const [mark, values] =
			from === null ? ['+', text(to)] : to === null ? ['-', text(from)] : ['~', `${text(from)} → ${text(to)}`];
		return `  ${mark} ${field}: ${values}`;
	});
	return [`${MARKS[change.action]} ${labelOf(change)}`, ...fields].join('\n');
};

/** The result of a run as `--json` shows it, and its last line for people. @param check whether all is only planned. */
export const resultOf = (changes: readonly Change[], unchanged: number, check: boolean) => {
	const count = (wanted: Change['action']) =>
		changes.filter(({action, status}) => action === wanted && (check || status === 'done')).length;
	const [created, updated, deleted] = [count('create'), count('update'), count('delete')];
	const listed = changes.map(({action, kind, name, org: {label: org}, doc, fields, status}) => ({
		...{action, kind, name: name === '' ? null : name, org, file: doc?.file ?? null, line: doc?.line ?? null, fields},
		status: status === 'planned' && !check ? 'pending' : status,
	}));
	const applied = !check && changes.every(({status}) => status === 'done');
	const [one, two, three] = check ? ['to create', 'to change', 'to delete'] : ['created', 'changed', 'deleted'];
	return {
		json: {applied, changes: listed, summary: {created, updated, deleted, unchanged}},
		text: `${created} ${one}, ${updated} ${two}, ${deleted} ${three}, ${unchanged} unchanged`,
	};
};
