# Completion of agent-chatter for fish. To use it, type:
#   agent-chatter completion fish > ~/.config/fish/completions/agent-chatter.fish
function __agent_chatter_complete
    set -l words (commandline -opc) (commandline -ct | string unescape)
    set -l files
    for line in (agent-chatter __complete --shell fish -- $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            set files 1
        else
            echo $line
        end
    end
    if set -q files[1]
        __fish_complete_path (commandline -ct)
    end
end
complete -c agent-chatter -f -a '(__agent_chatter_complete)'
