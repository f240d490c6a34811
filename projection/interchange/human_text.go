package interchange

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// humanText returns what a person wrote of the texts that a message has. It reports false if that is nothing.
func humanText(parts []string) (string, bool) {
	var written []string
	for _, part := range parts {
		if text := unwrap(part); strings.TrimSpace(text) != "" {
			written = append(written, text)
		}
	}
	text := trimBlankLines(strings.Join(written, "\n\n"))
	return text, text != ""
}

// isText reports whether one of the texts is not blank.
func isText(texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.TrimSpace(text) != "" })
}

// trimBlankLines returns a text without the blank lines at its ends. It keeps the indentation of the first line.
func trimBlankLines(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	for {
		line, rest, found := strings.Cut(text, "\n")
		if !found || strings.TrimSpace(line) != "" {
			break
		}
		text = rest
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// wrapperTags are the elements that programs put into a person's message for the agent only.
var wrapperTags = []string{
	"command-name", "command-message", "command-args", "command-contents",
	"local-command-stdout", "local-command-stderr", "local-command-caveat", "system-reminder", "environment_context",
	"permissions instructions", "app-context", "session_context", "skills_instructions", "user_instructions",
	"bash-input", "bash-stdout", "bash-stderr", "task-notification", "turn_aborted", "user_shell_command",
	"subagent_notification", "hook_prompt", "skill",
}

// wrapperStart matches a beginning of a line where a wrapper may be: its first group is the name of an element, the
// second the beginning of the instructions that Codex reads from a file.
var wrapperStart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*(?:<(` + strings.Join(wrapperTags, "|") + `)>|` +
		`(# AGENTS\.md instructions(?: for [^\n]*)?\n+<INSTRUCTIONS>))`)
})

// unwrap returns a text without the wrappers in it. A wrapper begins a line, or follows another one, and has an end:
// anything else is a person's text about it. A command that the person typed becomes the command with its arguments.
func unwrap(text string) string {
	var b strings.Builder
	var command slashCommand
	open := map[string]bool{} // what has no end in the rest of the text
	for text != "" {
		found := wrapperStart().FindStringSubmatchIndex(text)
		if found == nil {
			break
		}
		tag := "INSTRUCTIONS"
		if found[2] >= 0 {
			tag = text[found[2]:found[3]]
		}
		content, rest, closed := "", "", false
		if !open[tag] {
			content, rest, closed = strings.Cut(text[found[1]:], "</"+tag+">")
			open[tag] = !closed
		}
		if !closed {
			line := len(text)
			if i := strings.IndexByte(text[found[1]:], '\n'); i >= 0 {
				line = found[1] + i + 1
			}
			b.WriteString(text[:line])
			text = text[line:]
			continue
		}
		b.WriteString(text[:found[0]])
		command.add(tag, content)
		text = rest
	}
	b.WriteString(text)
	return command.before(trimBlankLines(b.String()))
}

// slashCommand is a command that a person typed, such as /review 450.
type slashCommand struct {
	name, args string
	own        bool // the program runs it itself: it names the command first
	begun      bool
}

func (c *slashCommand) add(tag, content string) {
	switch tag {
	case "command-name":
		c.name, c.own = strings.TrimSpace(content), !c.begun
	case "command-args":
		c.args = strings.TrimSpace(content)
	}
	c.begun = c.begun || strings.HasPrefix(tag, "command-")
}

// before puts the command before a text. A command such as /exit, which the program runs itself and which has no words
// for the agent, is left out.
func (c *slashCommand) before(text string) string {
	if c.name == "" || c.own && c.args == "" {
		return text
	}
	command := "/" + strings.TrimPrefix(c.name, "/")
	if c.args != "" {
		command += " " + c.args
	}
	if text == "" {
		return command
	}
	return command + "\n\n" + text
}
