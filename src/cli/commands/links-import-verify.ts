import {type Context, command} from '../command.ts';
import {orgOption} from '../common-options.ts';
import {exitCodes} from '../exit-codes.ts';
import {type InputOptions, inputOptions, openInput} from '../import/import-input.ts';
import {startProgress} from '../import/import-progress.ts';
import {emptyText, failureLines} from '../import/import-report.ts';
import {bytesOf, type Failure, inFileOrder, keepFailure} from '../import/send-rows.ts';
import {verifyLinks} from '../import/verify-links.ts';
import {linkSurface} from '../server/link-surface.ts';

type Findings = {resolved: number; gone: number; failed: number; failures: Failure[]};

const findingsText = ({resolved, gone, failed}: Findings): string =>
	`${resolved} resolve, ${gone} gone as the file says, ${failed} failed`;

export const verifyCommand = command({
	usage: 'verify <file>',
	summary: 'Request the short URL of every link in an imported file; counts no clicks',
	examples: ['verify links.csv --org Ab12', 'verify fdl.csv --format firebase --json'],
	options: [orgOption(), ...inputOptions()],
	run: async (context: Context<InputOptions>, fileName: string) => {
		const {io, options, show} = context;
		const input = await openInput(context, fileName, options);
		const surface = await linkSurface(context);
		const findings: Findings = {resolved: 0, gone: 0, failed: 0, failures: []};
		let bytes = 0;
		const stop = await startProgress(io, () => ({
			rows: findings.resolved + findings.gone + findings.failed,
			failed: findings.failed,
			bytes,
			size: input.size,
		}));
		try {
			for await (const verified of verifyLinks(surface, input.rows, io)) {
				findings[verified.status] += 1;
				bytes += bytesOf(verified.row);
				if (verified.status === 'failed') {
					keepFailure(findings.failures, verified);
				}
			}

			bytes = input.size ?? bytes;
		} finally {
			stop();
		}

		findings.failures.sort(inFileOrder);
		await show.answer(findings, findingsText);
		const fault = input.fault();
		if (findings.resolved + findings.gone + findings.failed === 0 && fault === null) {
			await show.note(emptyText(input.name));
		}

		if (findings.failed > 0) {
			await show.note(failureLines(findings, input.format.names).join('\n'));
		}

		if (fault !== null) {
			throw fault;
		}

		return findings.failed === 0 ? exitCodes.ok : exitCodes.failed;
	},
});
