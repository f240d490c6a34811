package clientconfig

import (
	"fmt"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

// A Command starts this program. Its strings are valid UTF-8.
type Command struct {
	Path string // absolute
	Args []string
}

// A Setup makes a client start a Command.
type Setup struct {
	Text  string // to paste; ends with a newline
	Where string // a sentence: where Text belongs
}

// The names of the program in clients: the first is shown to people, the second is an identifier.
const (
	title      = "Agent Chatter"
	identifier = "agent-chatter"
)

// ACP returns the Setup of an editor: zed, jetbrains, neovim or emacs. It panics if the editor is another one.
func ACP(editor string, c Command) Setup {
	switch editor {
	case "zed":
		return Setup{
			jsonObject("agent_servers", title, `"type": "custom",`, c, `"env": {}`),
			`Merge this into the settings.json of Zed. "zed: open settings file" opens it.`,
		}
	case "jetbrains":
		return Setup{
			jsonObject("agent_servers", title, "", c, `"env": {}`),
			`Merge this into ~/.jetbrains/acp.json. "Add Custom Agent" in the menu of the AI Chat opens it.`,
		}
	case "neovim":
		return Setup{
			luaCall(c),
			"Merge this into the setup of CodeCompanion in init.lua.\n" +
				`":CodeCompanionChat adapter=agent_chatter" opens a chat.`,
		}
	case "emacs":
		return Setup{
			lispForm(c),
			`Add this to init.el. "M-x agent-shell" then offers Agent Chatter; the package agent-shell is on MELPA.`,
		}
	}
	panic("unknown editor " + editor)
}

// MCP returns the Setup of an agent: claude, codex, gemini or zed. It panics if the agent is another one. shell is
// whether there is a POSIX shell, in which one command is enough.
func MCP(agent string, c Command, shell bool) Setup {
	const inShell = "Run this in a shell."
	if agent == "claude" || agent == "gemini" {
		c = c.unexpanded()
	}
	command := append([]string{c.Path}, c.Args...)
	switch {
	case agent == "zed":
		return Setup{
			jsonObject("context_servers", identifier, "", c, `"env": {}`),
			`Merge this into the settings.json of Zed. "zed: open settings file" opens it.`,
		}
	case agent == "claude" && shell:
		add := []string{"claude", "mcp", "add", "--scope", "user", identifier, "--"}
		return Setup{shellCommand(add, command), inShell}
	case agent == "claude":
		return Setup{
			jsonObject("mcpServers", identifier, "", c, ""),
			"Merge this into .mcp.json in the directory of the project.",
		}
	case agent == "codex" && shell:
		return Setup{shellCommand([]string{"codex", "mcp", "add", identifier, "--"}, command), inShell}
	case agent == "codex":
		return Setup{tomlTable(c), "Append this to .codex/config.toml in your home directory."}
	case agent == "gemini" && shell:
		add := []string{"gemini", "mcp", "add", "--scope", "user", identifier, c.Path, "--"}
		return Setup{shellCommand(add, c.Args), inShell}
	case agent == "gemini":
		return Setup{
			jsonObject("mcpServers", identifier, "", c, ""),
			"Merge this into .gemini/settings.json in your home directory.",
		}
	}
	panic("unknown agent " + agent)
}

func (c Command) unexpanded() Command {
	args := make([]string, len(c.Args))
	for i, arg := range c.Args {
		args[i] = unexpanded(arg)
	}
	return Command{unexpanded(c.Path), args}
}

func shellCommand(add, command []string) string { return hint.Join(append(add, command...)) + "\n" }

// jsonObject returns an object with an entry of a section. first and last are members of the entry; "" is none.
func jsonObject(section, name, first string, c Command, last string) string {
	if first != "" {
		first += "\n      "
	}
	if last != "" {
		last = ",\n      " + last
	}
	return fmt.Sprintf(`{
  %q: {
    %q: {
      %s"command": %s,
      "args": [%s]%s
    }
  }
}
`, section, name, first, inJSON(c.Path), list(c.Args, ", ", inJSON), last)
}

func tomlTable(c Command) string {
	return fmt.Sprintf("[mcp_servers.%s]\ncommand = %s\nargs = [%s]\n",
		identifier, inTOML(c.Path), list(c.Args, ", ", inTOML))
}

// luaCall returns the setup of CodeCompanion with an adapter for ACP, which has no adapter for any command.
func luaCall(c Command) string {
	return fmt.Sprintf(`require("codecompanion").setup({
  adapters = {
    acp = {
      agent_chatter = function()
        return {
          name = "agent_chatter",
          formatted_name = "%s",
          type = "acp",
          roles = { llm = "assistant", user = "user" },
          commands = { default = { %s } },
          defaults = { mcpServers = {}, timeout = 20000 },
          parameters = {
            protocolVersion = 1,
            clientCapabilities = { fs = { readTextFile = true, writeTextFile = true } },
            clientInfo = { name = "CodeCompanion.nvim", version = "1.0.0" },
          },
          handlers = {
            setup = function()
              return true
            end,
            form_messages = function(self, messages, capabilities)
              return require("codecompanion.adapters.acp.helpers").form_messages(self, messages, capabilities)
            end,
            on_exit = function() end,
          },
        }
      end,
    },
  },
})
`, title, list(append([]string{c.Path}, c.Args...), ", ", inLua))
}

// lispForm returns a configuration of agent-shell.
func lispForm(c Command) string {
	return fmt.Sprintf(`(with-eval-after-load 'agent-shell
  (add-to-list
   'agent-shell-agent-configs
   (agent-shell-make-agent-config
    :identifier 'agent-chatter
    :mode-line-name "%[1]s"
    :buffer-name "%[1]s"
    :shell-prompt "%[1]s> "
    :shell-prompt-regexp "%[1]s> "
    :client-maker (lambda (buffer)
                    (acp-make-client
                     :command %[2]s
                     :command-params '(%[3]s)
                     :context-buffer buffer)))))
`, title, inLisp(c.Path), list(c.Args, " ", inLisp))
}
