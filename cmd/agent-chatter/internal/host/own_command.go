package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

const (
	maxOwnCommand  = 64 << 10 // bytes of a file
	maxOwnCommands = 200      // of a directory
	maxOwnMessage  = 16 << 20 // bytes of a prompt with its arguments
	maxDescription = 100      // bytes that the menu has
)

// An OwnCommand is a prompt that a person has written as a command: NAME.md.
type OwnCommand struct {
	Name        string // with the slash
	Description string // in one line; may be ""
	Here        bool   // it is of the working directory, perhaps by someone else

	path string
}

// ownName is the form of the names of such commands.
var ownName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9-]{1,64}$`) })

// OwnCommands returns the commands of the home, and those of the working directory that it does not have, without those
// that are built in. These are hidden; their paths are returned.
func OwnCommands(a *app.App, builtIn func(name string) bool) (all []OwnCommand, hidden []string) {
	for _, from := range []struct {
		dir  string
		here bool
	}{{filepath.Join(a.Home, "commands"), false}, {filepath.Join(a.Cwd, ".agent-chatter", "commands"), true}} {
		for _, name := range ownNames(from.dir) {
			c := OwnCommand{Name: "/" + name, path: filepath.Join(from.dir, name+".md"), Here: from.here}
			known := func(other OwnCommand) bool { return other.Name == c.Name }
			if builtIn(c.Name) {
				hidden = append(hidden, c.path)
				continue
			}
			text, err := c.read(a)
			if slices.ContainsFunc(all, known) || err != nil && c.Here {
				continue
			}
			c.Description, _ = parseOwn(text)
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
		if name, ok := strings.CutSuffix(e.Name(), ".md"); ok && ownName().MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxOwnCommands)]
}

// read returns the content of the file. In the working directory no link is followed: it could lead to any file.
func (c OwnCommand) read(a *app.App) (string, error) {
	if !c.Here {
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

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(ARGUMENTS|[1-9])`) })

// expandOwn returns a prompt with its arguments: all of them for $ARGUMENTS, and single ones for $1 to $9. A prompt
// without places gets them at its end. It reports whether the message is not too long.
func expandOwn(prompt, args string) (message string, ok bool) {
	if args != "" && !placeholder().MatchString(prompt) {
		prompt += "\n\n$ARGUMENTS"
	}
	words := strings.Fields(args)
	var b strings.Builder
	end := 0 // of what was copied
	for _, at := range placeholder().FindAllStringIndex(prompt, -1) {
		b.WriteString(prompt[end:at[0]])
		end = at[1]
		place, value := prompt[at[0]:at[1]], args
		if place != "$ARGUMENTS" {
			value = ""
			if n := int(place[1] - '1'); n < len(words) {
				value = words[n]
			}
		}
		if b.Len()+len(value) > maxOwnMessage {
			return "", false
		}
		b.WriteString(value)
	}
	b.WriteString(prompt[end:])
	return b.String(), b.Len() <= maxOwnMessage
}

// Message returns the message of the command with arguments: of the working directory, once l admits its prompt.
func (c OwnCommand) Message(ctx context.Context, l teams.Loader, args string) (string, error) {
	text, err := c.read(l.App)
	if err == nil && c.Here {
		err = l.AdmitPrompt(ctx, c.Name, c.path, text)
	}
	if err != nil {
		return "", err
	}
	_, prompt := parseOwn(text)
	message, ok := expandOwn(prompt, args)
	switch {
	case !ok:
		return "", app.Exit(app.ExitFailed, longCommandText(c.path))
	case strings.TrimSpace(message) == "":
		return "", app.Exit(app.ExitFailed, emptyCommandText(c.path))
	}
	return message, nil
}

// Admitted reports whether the command runs without a question.
func (c OwnCommand) Admitted(ctx context.Context, l teams.Loader) bool {
	if !c.Here {
		return true
	}
	text, err := c.read(l.App)
	return err == nil && l.Admits(ctx, c.path, text)
}

func emptyCommandText(path string) app.Message {
	return app.Text("%s has no prompt; nothing was sent.", tty.SafeLine(path))
}

// longCommandText is for a prompt that its arguments make too long.
func longCommandText(path string) app.Message {
	return app.Text("%s with these arguments exceeds %d MiB; nothing was sent.", tty.SafeLine(path), maxOwnMessage>>20)
}
