package chat

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

const (
	maxOwnCommand  = 64 << 10 // bytes of a file
	maxOwnCommands = 200      // of a directory
	maxDescription = 100      // bytes that the menu has
)

// An ownCommand is a prompt that a person has written as a command: NAME.md.
type ownCommand struct {
	name, path  string
	description string // in one line; may be ""
	here        bool   // it is of the working directory, perhaps by someone else
}

// ownName is the form of the names of such commands.
var ownName = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// ownCommands returns the commands of the home, and those of the working directory that it does not have, without those
// that are built in. These are hidden.
func ownCommands(a *app.App) (all []ownCommand, hidden []string) {
	for _, from := range []struct {
		dir  string
		here bool
	}{{filepath.Join(a.Home, "commands"), false}, {filepath.Join(a.Cwd, ".agent-chatter", "commands"), true}} {
		for _, name := range ownNames(from.dir) {
			c := ownCommand{name: "/" + name, path: filepath.Join(from.dir, name+".md"), here: from.here}
			known := func(other ownCommand) bool { return other.name == c.name }
			if built, _, _ := parseSlash(c.name); built != nil {
				hidden = append(hidden, c.path)
				continue
			}
			text, err := c.read(a)
			if slices.ContainsFunc(all, known) || err != nil && c.here {
				continue
			}
			c.description, _ = parseOwn(text)
			all = append(all, c)
		}
	}
	return all, hidden
}

// ownNames returns the names of the commands in a directory, sorted.
func ownNames(dir string) (names []string) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(10 * maxOwnCommands) // those before an error count, too
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".md"); ok && ownName.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxOwnCommands)]
}

// read returns the content of the file. In the working directory no link is followed: it could lead to any file.
func (c ownCommand) read(a *app.App) (string, error) {
	if !c.here {
		if err := home.CheckFileOwner(a.Home, c.path); err != nil {
			return "", err
		}
		text, err := regularfile.Read(c.path, maxOwnCommand)
		return string(text), err
	}
	root, err := os.OpenRoot(a.Cwd)
	if err != nil {
		return "", err
	}
	defer root.Close()
	below := filepath.Join(".agent-chatter", "commands", filepath.Base(c.path))
	info, err := root.Lstat(below)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", &fs.PathError{Op: "open", Path: c.path, Err: errors.New("is no regular file")}
	case info.Size() > maxOwnCommand:
		return "", &fs.PathError{Op: "read", Path: c.path, Err: &regularfile.SizeError{Limit: maxOwnCommand}}
	}
	text, err := regularfile.Read(c.path, maxOwnCommand)
	if now, statErr := root.Lstat(below); err == nil && (statErr != nil || !os.SameFile(info, now)) {
		err = &fs.PathError{Op: "read", Path: c.path, Err: errors.New("was replaced")}
	}
	return string(text), err
}

// parseOwn returns the description of a command, which is that of its front matter or its first line, and its prompt.
func parseOwn(text string) (description, prompt string) {
	text = strings.ReplaceAll(strings.ToValidUTF8(strings.TrimPrefix(text, "\ufeff"), "\ufffd"), "\r\n", "\n")
	prompt = text
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if head, body, ok := strings.Cut("\n"+rest, "\n---\n"); ok {
			prompt = body
			for line := range strings.SplitSeq(head, "\n") {
				if value, ok := strings.CutPrefix(line, "description:"); ok {
					description = strings.Trim(strings.TrimSpace(value), `"'`)
				}
			}
		}
	}
	prompt = strings.TrimSpace(prompt)
	if description == "" {
		first, _, _ := strings.Cut(prompt, "\n")
		description = strings.TrimSpace(strings.TrimLeft(first, "#"))
	}
	return tty.SafeLine(runecut.Prefix(description, maxDescription)), prompt
}

var placeholder = regexp.MustCompile(`\$(ARGUMENTS|[1-9])`)

// expandOwn returns a prompt with its arguments: all of them for $ARGUMENTS, and single ones for $1 to $9. A prompt
// without places gets them at its end.
func expandOwn(prompt, args string) string {
	if args != "" && !placeholder.MatchString(prompt) {
		return prompt + "\n\n" + args
	}
	words := strings.Fields(args)
	return placeholder.ReplaceAllStringFunc(prompt, func(place string) string {
		if place == "$ARGUMENTS" {
			return args
		}
		if n := int(place[1] - '1'); n < len(words) {
			return words[n]
		}
		return ""
	})
}

// runOwn sends the prompt of a command as a message.
func (r *repl) runOwn(ctx context.Context, c ownCommand, args string) error {
	text, err := c.read(r.app)
	if err == nil && c.here {
		err = r.teams(ctx).AdmitPrompt(ctx, c.name, c.path, text)
	}
	if err != nil {
		r.report(err)
		return nil
	}
	_, prompt := parseOwn(text)
	if prompt = expandOwn(prompt, args); strings.TrimSpace(prompt) == "" {
		r.reject("%s", emptyCommandText(c.path))
		return nil
	}
	return r.runTurns(ctx, func(ctx context.Context) error { return r.c.Say(ctx, "", prompt) })
}

func emptyCommandText(path string) string {
	return tty.SafeLine(path) + " has no prompt; nothing was sent."
}

// hiddenCommandsText is for files with the names of built-in commands.
func hiddenCommandsText(paths []string) string {
	return "Not used, since commands of these names are built in: " + tty.SafeLine(strings.Join(paths, ", "))
}
