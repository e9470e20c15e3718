import {Option} from 'commander';
import {type Finding, worstOf} from '../../doctor/finding.ts';
import type {Context} from '../command.ts';
import {exitCodes} from '../exit-codes.ts';
import {isLively, print} from '../terminal/io.ts';
import {findingsText, summaryText} from './report-text.ts';

export const strictOption = (): Option => new Option('--strict', 'warnings count as failures');

/** Prints findings by area as they are added; as JSON, all at the end. */
export const createReport = ({io, show}: Context) => {
	const style = {width: show.width, isColoured: isLively(io.stdout, io.env)};
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
