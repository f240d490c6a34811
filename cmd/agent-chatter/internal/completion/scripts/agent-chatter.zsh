#compdef agent-chatter
# Completion of agent-chatter for zsh. To use it, write into ~/.zshrc, behind compinit:
#   source <(agent-chatter completion zsh)
# or put it as _agent-chatter into a directory of $fpath.
_agent_chatter() {
	local -a found shown
	local line files
	for line in "${(@f)$(agent-chatter __complete --shell zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
		case $line in
		'') ;;
		:files) files=1 ;;
		*)
			found+=("${line%%$'\t'*}")
			shown+=("${line//$'\t'/  }")
			;;
		esac
	done
	# The program has matched, also in another case and in the middle of an id.
	(( $#found )) && compadd -U -l -d shown -a found
	[[ -n $files ]] && _files
}
if [[ $funcstack[1] == _agent-chatter ]]; then
	_agent_chatter "$@"
else
	compdef _agent_chatter agent-chatter
fi
