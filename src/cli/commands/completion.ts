import {usageError} from '../cli-errors.ts';
import {command} from '../command.ts';
import {completionScripts, type Shell} from '../completion/scripts.ts';
import {write} from '../terminal/io.ts';

const isShell = (name: string): name is Shell => Object.hasOwn(completionScripts, name);

export const completionCommand = command({
	usage: 'completion <shell>',
	summary: 'Print a completion script for bash, zsh or fish',
	examples: ['completion bash', 'completion fish > ~/.config/fish/completions/oplink.fish'],
	run: async ({io, show}, shell: string) => {
		if (!isShell(shell)) {
			throw usageError(`Unsupported shell '${shell}'`, 'Shells are bash, zsh and fish');
		}

		const script = completionScripts[shell];
		if (show.json) {
			await show.answer({shell, script}, () => script);
		} else {
			await write(io.stdout, script);
		}
	},
});
