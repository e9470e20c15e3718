import {counted} from '../../counted.ts';
import type {Finding, Verdict} from '../../doctor/finding.ts';
import {cellText} from '../terminal/output.ts';
import {styled} from '../terminal/printable.ts';
import {wrapped} from '../terminal/wrapped.ts';

const LEFT = 8;

/** Green, yellow and red. */
const colours: Record<Verdict, number> = {ok: 32, warn: 33, fail: 31};
const BOLD = 1;
const DEFAULT_COLOUR = 39;
const NOT_BOLD = 22;

export type Style = {width: number; isColoured: boolean};

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
