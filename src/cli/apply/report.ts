import type {Change} from './changes.ts';

const MARKS = {create: '+', update: '~', delete: '-'} as const;

/** A change by its name: `Template Sale (Ab12)`. */
export const labelOf = ({kind, name, org: {label}}: Change): string =>
	[kind, name, label === name ? '' : `(${label})`].filter((word) => word !== '').join(' ');

/** A change as people read it: its label, and below it a line for each field. */
export const changeText = (change: Change): string => {
	const text = (value: unknown) => (value === '(set)' ? value : JSON.stringify(value));
	const fields = change.fields.map(({field, from, to}) =>
		from === null
			? `  + ${field}: ${text(to)}`
			: to === null
				? `  - ${field}: ${text(from)}`
				: `  ~ ${field}: ${text(from)} → ${text(to)}`,
	);
	return [`${MARKS[change.action]} ${labelOf(change)}`, ...fields].join('\n');
};

type Summary = {created: number; updated: number; deleted: number; unchanged: number};

/** How many changes are made, or with `check` are to be made. */
export const summaryOf = (changes: readonly Change[], unchanged: number, check: boolean): Summary => {
	const count = (wanted: Change['action']) =>
		changes.filter(({action, status}) => action === wanted && (check || status === 'done')).length;
	return {created: count('create'), updated: count('update'), deleted: count('delete'), unchanged};
};

export const summaryText = ({created, updated, deleted, unchanged}: Summary, check: boolean): string =>
	check
		? `${created} to create, ${updated} to change, ${deleted} to delete, ${unchanged} unchanged`
		: `${created} created, ${updated} changed, ${deleted} deleted, ${unchanged} unchanged`;

/** A change in the output of `--json`. */
export const changeJson = ({action, kind, name, org, doc, fields, status}: Change, check: boolean) => ({
	action,
	kind,
	name: name === '' ? null : name,
	org: org.label,
	file: doc?.file ?? null,
	line: doc?.line ?? null,
	fields,
	status: status === 'planned' && !check ? 'pending' : status,
});
