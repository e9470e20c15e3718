import {InvalidArgumentError, Option} from 'commander';
import type {ApplyOptions} from '../apply/run-apply.ts';
import {usageError} from '../cli-errors.ts';
import {type Context, command} from '../command.ts';
import {orgOption, yesOption} from '../common-options.ts';

type Options = ApplyOptions & {export?: string};

const PRUNABLE = ['Channel', 'Template', 'Domain', 'Endpoint', 'Link'] as const;

const prunable = (text: string, chosen: string[] = []): string[] => {
	if (!PRUNABLE.some((kind) => kind === text)) {
		throw new InvalidArgumentError(`Allowed choices are ${PRUNABLE.join(', ')}.`);
	}

	return [...chosen, text];
};

export const applyCommand = command({
	usage: 'apply [paths...]',
	summary: 'Apply YAML or JSON documents of an organization',
	about: 'PATH is a file or a folder; - reads standard input.',
	examples: ['apply oplink/ --check', 'apply --export Ab12 oplink/'],
	options: [
		orgOption(),
		new Option('--check', 'show the changes without making them; 1 if there are any'),
		new Option('--prune <kind>', `delete what no document names of ${PRUNABLE.join(', ')} (repeatable)`).argParser(
			prunable,
		),
		new Option('--export <org>', 'write the documents of an organization, to a folder if one is named').conflicts([
			'check',
			'prune',
			'org',
		]),
		yesOption(),
	],
	run: async (context: Context<Options>, paths: string[]) => {
		const {options} = context;
		const [folder = null, ...others] = paths;
		if (options.export !== undefined) {
			if (others.length > 0 || (folder !== null && context.show.json)) {
				throw usageError('--export writes to one folder, or to standard output', 'Leave the other paths or --json out');
			}

			const {exportOrganization} = await import('../apply/export.ts');
			return exportOrganization(context, options.export, folder);
		}

		if (folder === null) {
			throw usageError('No file is named', 'Name files or folders with documents, or - for standard input');
		}

		// Loaded here: the schemas of the API take longer to load than most commands run.
		const {runApply} = await import('../apply/run-apply.ts');
		return runApply(context, paths);
	},
});
