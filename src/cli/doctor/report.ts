import {Option} from 'commander';
import {type Finding, type Verdict, worstOf} from '../../operations/finding.ts';
import {counted} from '../../platform/text.ts';
import {exitCodes} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import {print, supportsStyles} from '../terminal/io.ts';
import {cellText} from '../terminal/output.ts';
import {styled} from '../terminal/printable.ts';
import {wrapped} from '../terminal/wrapped.ts';

const LEFT = 8;

const colours: Record<Verdict, number> = {ok: 32, warn: 33, fail: 31};
const BOLD = 1;
const DEFAULT_COLOUR = 39;
const NOT_BOLD = 22;

type Style = {width: number; isColoured: boolean};

const paragraph = (text: string, width: number): string =>
	wrapped(cellText(text), Math.max(20, width - LEFT)).join(`\n${' '.repeat(LEFT)}`);

const findingText = ({status, message, next}: Finding, {width, isColoured}: Style): string => {
	const mark = status.padEnd(LEFT - 2);
	const lines = [`  ${isColoured ? styled(mark, colours[status], DEFAULT_COLOUR) : mark}${paragraph(message, width)}`];
	if (next !== null) {
		lines.push(`${' '.repeat(LEFT)}${paragraph(`Next: ${next}`, width)}`);
	}

	return lines.join('\n');
};

/** Findings for people, grouped by area. @param before the area printed last. */
export const findingsText = (findings: readonly Finding[], style: Style, before?: string): string =>
	findings
		.map((finding, index) => {
			const isNew = finding.area !== (findings[index - 1]?.area ?? before);
			const title = style.isColoured ? styled(finding.area, BOLD, NOT_BOLD) : finding.area;
			return `${isNew ? `${title}\n` : ''}${findingText(finding, style)}`;
		})
		.join('\n');

/** The summary line. */
export const summaryText = (findings: readonly Finding[]): string => {
	const count = (verdict: Verdict) => findings.filter(({status}) => status === verdict).length;
	return [counted(count('fail'), 'failure'), counted(count('warn'), 'warning'), `${count('ok')} ok`].join(', ');
};

export const strictOption = (): Option => new Option('--strict', 'treat warnings as failures');

/** Prints findings by area as they are added; as JSON, all at the end. */
export const createReport = ({io, show}: Pick<Context, 'io' | 'show'>) => {
	const style = {width: show.width, isColoured: supportsStyles(io.stdout, io.env)};
	const all: Finding[] = [];
	return {
		add: async (findings: readonly Finding[]): Promise<void> => {
			// A continued area has its title already.
			const before = all.at(-1)?.area;
			all.push(...findings);
			if (!show.json && findings.length > 0) {
				await print(io, findingsText(findings, style, before));
			}
		},
		/** Prints the summary. @returns the exit code. */
		finish: async ({strict = false}: {strict?: boolean}): Promise<number> => {
			const verdict = worstOf(all);
			await show.answer({status: verdict, findings: all}, () => `\n${summaryText(all)}`);
			return verdict === 'fail' || (verdict === 'warn' && strict) ? exitCodes.failed : exitCodes.ok;
		},
	};
};
