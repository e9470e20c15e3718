import {counted} from '../../platform/plural.ts';
import {cellText} from '../terminal/output.ts';
import type {PrefixNeeds} from './formats/fit-row.ts';
import {type Failure, type ImportState, type ImportSummary, reasonOf, rowsDone} from './send-rows.ts';

const FAILURES_SHOWN = 20;

/** `line 12`, and in a JSON array `line 12 (item 3)`. */
const placeText = ({line, item}: Pick<Failure, 'line' | 'item'>): string =>
	item === undefined ? `line ${line}` : `line ${line} (item ${item})`;

export const summaryText = ({created, updated, skipped, failed}: ImportSummary, dryRun: boolean): string =>
	`${dryRun ? 'Would be: ' : ''}${created} created, ${updated} updated, ${skipped} skipped, ${failed} failed`;

/** The first failures by line, and the number of others. `names`: the fields' names in the file. */
export const failureLines = (
	{failures, failed}: Pick<ImportSummary, 'failures' | 'failed'>,
	names: Record<string, string> | null,
): string[] => [
	...failures
		.slice(0, FAILURES_SHOWN)
		// Reasons quote the file; its text must not move the cursor.
		.map((failure) => `${placeText(failure)}: ${cellText(reasonOf(failure, names))}`),
	...(failed > FAILURES_SHOWN ? [`… and ${failed - FAILURES_SHOWN} more`] : []),
];

/** Fields without a counterpart, most frequent first; empty if there are none. */
export const notCarriedOverLines = (summary: ImportSummary): string[] => {
	const counts = Object.entries(summary.notCarriedOver ?? {}).sort(([, a], [, b]) => b - a);
	const width = Math.max(0, ...counts.map(([, count]) => String(count).length));
	return counts.length === 0
		? []
		: [
				'Not carried over (docs/importing.md lists what is):',
				...counts.map(([name, count]) => `  ${String(count).padStart(width)} × ${cellText(name)}`),
			];
};

/** The commands by which the old addresses of the rows, with a prefix before the code, lead to the links. */
export const prefixLines = (prefixes: PrefixNeeds, organization: string): string[] =>
	[...prefixes]
		.filter(([, {needs}]) => needs.size > 0)
		.map(([hostname, {has, needs}]) => {
			const options = [...has, ...needs].map((prefix) => ` --path-prefix ${prefix}`).join('');
			return `Next: oplink domains set --org ${organization} ${hostname}${options}, for the old addresses with a prefix`;
		});

/** The message for a file without rows, whose figures alone could mean success. */
export const emptyText = (name: string): string => `${name} has no rows`;

/** The message for a file that could not be read to its end. */
export const brokenOffText = ({summary}: ImportState, name: string): string =>
	`${name} was read as far as ${counted(rowsDone(summary), 'row')}. Fix it where it breaks off and import it again: links that ` +
	'exist are skipped.';

/** The message for an unfinished import. */
export const soFarText = ({summary}: ImportState, name: string, dryRun: boolean): string =>
	`The server confirmed ${counted(rowsDone(summary), 'row')} of ${name}, and more may be imported (${summaryText(summary, dryRun)}). ` +
	'Run the same command to continue: links that exist are skipped.';
