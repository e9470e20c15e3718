export type Shell = 'bash' | 'zsh' | 'fish';

/**
 * The oldest shell is bash 3.2, of macOS. Listed candidates have descriptions; inserted ones have none. Bash inserts
 * words as they are, and they may be tenants' texts, so each is quoted here. Quoted words are read without their
 * backslashes.
 */
const bash = `# bash completion of oplink. To have it in every shell, put this into ~/.bashrc:
#   eval "$(oplink completion bash)"
_oplink() {
	local line value width files='' quotes='' current="\${COMP_WORDS[COMP_CWORD]}"
	local -a values=() texts=() words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
	COMPREPLY=()
	while IFS='' read -r line; do
		if [[ $line == ':files' ]]; then
			files=yes
			continue
		fi
		printf -v value '%q' "\${line%%$'\\t'*}"
		values+=("$value")
		if [[ $line == *$'\\t'* ]]; then
			texts+=("$value  (\${line#*$'\\t'})")
		else
			texts+=("$value")
		fi
	done < <("\${1/#\\~/$HOME}" __complete "\${words[@]//\\\\/}" 2>/dev/null)
	if [[ -n $files ]]; then
		[[ $current == '=' ]] && current=''
		compopt -o filenames 2>/dev/null || quotes=yes
		while IFS='' read -r line; do
			[[ -n $quotes ]] && printf -v line '%q' "$line"
			values+=("$line")
		done < <(compgen -f -- "$current")
		texts=("\${values[@]}")
	fi
	# 37 and 42 insert one after the other, where a description would be inserted too.
	if [[ \${#values[@]} -lt 2 || $COMP_TYPE == 37 || $COMP_TYPE == 42 ]]; then
		COMPREPLY=("\${values[@]}")
		return
	fi
	width=$((\${COLUMNS:-80} - 2))
	for line in "\${texts[@]}"; do
		COMPREPLY+=("\${line:0:width}")
	done
}
complete -F _oplink oplink
`;

const zsh = `#compdef oplink
# zsh completion of oplink. To have it in every shell, put this into ~/.zshrc, after compinit:
#   source <(oplink completion zsh)
_oplink() {
	local line value files=''
	local -a lines described
	lines=("\${(@f)$("\${words[1]}" __complete "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
	for line in "\${lines[@]}"; do
		if [[ $line == ':files' ]]; then
			files=yes
			continue
		fi
		[[ -z $line ]] && continue
		value="\${line%%$'\\t'*}"
		value="\${value//\\\\/\\\\\\\\}"
		value="\${value//:/\\\\:}"
		if [[ $line == *$'\\t'* ]]; then
			described+=("$value:\${line#*$'\\t'}")
		else
			described+=("$value")
		fi
	done
	(( \${#described} )) && _describe 'oplink' described
	if [[ -n $files ]]; then
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
	set -l at
	if set at (contains --index -- ':files' $answer)
		set -e answer[$at]
		set -l option (string match --regex -- '^--[^=]+=' "$current")
		set -a answer "$option"(__fish_complete_path (string replace -- "$option" '' "$current"))
	end
	string join \\n -- $answer
end
complete --command oplink --no-files --arguments '(__oplink_complete)'
`;

/** The script of each shell; all call the program itself, by \`oplink __complete\`. */
export const completionScripts: Readonly<Record<Shell, string>> = {bash, zsh, fish};
