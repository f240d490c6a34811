# Completion of agent-chatter for bash. To use it, write into ~/.bashrc:
#   source <(agent-chatter completion bash)
_agent_chatter() {
	local cur=${COMP_WORDS[COMP_CWORD]} open= line
	case $cur in
	\'* | \"*) open=${cur:0:1} ;;
	esac
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files)
			compopt -o default
			;;
		*)
			line=${line%%$'\t'*}
			# Within quotes a text stands as it is, elsewhere blanks would end it.
			[[ -n $open ]] || printf -v line %q "$line"
			COMPREPLY+=("$line")
			;;
		esac
	done < <(agent-chatter __complete --shell bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _agent_chatter agent-chatter
