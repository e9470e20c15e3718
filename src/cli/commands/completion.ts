import type {Command, Option} from 'commander';
import {usageError} from '../cli-errors.ts';
import {command} from '../command.ts';
import {type Io, write} from '../terminal/io.ts';
import {cellText} from '../terminal/output.ts';

type Candidate = {value: string; description?: string};

/** Options that a command accepts: its own and the program's. */
const optionsOf = (program: Command, command: Command): Option[] => [
	...(command === program ? [] : command.options),
	...program.options,
];

/** Bash splits `--format=s` into three words. */
const joined = (words: readonly string[]): string[] =>
	words.flatMap((word, index) => {
		const isSeparator = word === '=' && (words[index - 1] ?? '').startsWith('--');
		return isSeparator ? (index === words.length - 1 ? [''] : []) : [word];
	});

/** The command that the words name, its options among the words, and the option that still needs its value. */
const readWords = (program: Command, words: readonly string[]) => {
	let command = program;
	let waiting: Option | undefined;
	let operands = 0;
	const used = new Set<Option | undefined>();
	for (const word of words) {
		const [flag, value] = word.split(/=(.*)/s);
		const inner = operands === 0 ? command.commands.find((one) => one.name() === word) : undefined;
		if (waiting !== undefined) {
			waiting = undefined;
		} else if (word.startsWith('-')) {
			const option = optionsOf(program, command).find(({long, short}) => long === flag || short === flag);
			waiting = value === undefined && option?.required ? option : undefined;
			used.add(option);
		} else if (inner === undefined) {
			operands += 1;
		} else {
			command = inner;
		}
	}

	return {command, waiting, operands, used};
};

/** The candidates for the last of the words after `oplink`, by the declarations of the commands alone. */
const candidatesFor = (program: Command, line: readonly string[]): Candidate[] => {
	const words = joined(line);
	const current = words.pop() ?? '';
	const {command, waiting, operands, used} = readWords(program, words);
	const options = optionsOf(program, command);
	const [, prefix = '', flag] = /^((--[^=]+)=)/.exec(current) ?? [];
	const optionWithValue = waiting ?? options.find(({long}) => long === flag);
	if (optionWithValue !== undefined) {
		const start = waiting === undefined ? prefix : '';
		return (optionWithValue.argChoices ?? []).map((value) => ({value: start + value}));
	}

	if (current.startsWith('-')) {
		// Only options with a parser may collect several values.
		const free = words.includes('--') ? [] : options.filter((option) => !used.has(option) || option.parseArg);
		return free.map(({long, short, description}) => ({value: long ?? short ?? '', description}));
	}

	// `help` completes the words of another command.
	const {commands} = command.name() === 'help' && command.parent ? command.parent : command;
	const inner = operands === 0 ? commands : [];
	return inner.map((one) => ({value: one.name(), description: one.summary()}));
};

/**
 * `oplink __complete WORD…`, called by the shells' scripts. Prints the candidates for the last word, one per line: the
 * value, a tab and its description. Without candidates the shells complete file names.
 */
export const complete = async (program: Command, words: readonly string[], io: Io): Promise<void> => {
	const typed = joined(words).at(-1) ?? '';
	const lines = candidatesFor(program, words)
		.filter(({value}) => value.startsWith(typed))
		.map(({value, description}) => `${value}${description ? `\t${cellText(description)}` : ''}\n`);
	await write(io.stdout, lines.join(''));
};

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
