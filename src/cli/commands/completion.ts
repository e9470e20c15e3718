import {usageError} from '../cli-errors.ts';
import {command} from '../command.ts';
import {write} from '../terminal/io.ts';

type Shell = 'bash' | 'zsh' | 'fish';

/** The oldest shell is bash 3.2, of macOS. It would insert descriptions as well, so it gets none. */
const bash = `# bash completion of oplink. To have it in every shell, put this into ~/.bashrc:
#   eval "$(oplink completion bash)"
_oplink() {
	local IFS=$'\\n'
	COMPREPLY=($("\${1/#\\~/$HOME}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o default -F _oplink oplink
`;

const zsh = `#compdef oplink
# zsh completion of oplink. To have it in every shell, put this into ~/.zshrc, after compinit:
#   source <(oplink completion zsh)
_oplink() {
	local -a lines
	lines=("\${(@f)$("\${words[1]}" __complete "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ -n $lines ]]; then
		lines=(\${\${lines//:/\\\\:}/$'\\t'/:})
		_describe 'oplink' lines
	else
		compset -P '--*='
		_files
	fi
}
if [[ $funcstack[1] == '_oplink' ]]; then
	_oplink "$@"
else
	compdef _oplink oplink
fi
`;

const fish = `# fish completion of oplink. To have it in every shell:
#   oplink completion fish > ~/.config/fish/completions/oplink.fish
function __oplink_complete
	set -l words (commandline -opc)
	set -l current (commandline -ct | string unescape)
	set -l program $words[1]
	set -e words[1]
	set -l answer ($program __complete $words "$current" 2>/dev/null)
	if test -z "$answer"
		set -l option (string match --regex -- '^--[^=]+=' "$current")
		set answer "$option"(__fish_complete_path (string replace -- "$option" '' "$current"))
	end
	string join \\n -- $answer
end
complete --command oplink --no-files --arguments '(__oplink_complete)'
`;

/** The script of each shell; all call the program itself, by \`oplink __complete\`. */
const completionScripts: Readonly<Record<Shell, string>> = {bash, zsh, fish};

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
