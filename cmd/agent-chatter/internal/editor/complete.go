package editor

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

const (
	// maxEntries is how many entries of a directory are read for a menu.
	maxEntries = 1000
	// maxChoices is how many choices a menu has.
	maxChoices = 50
)

// A Choice is an entry of a menu.
type Choice struct {
	Text string // replaces the word before the cursor
	Help string // what it is; may be ""
}

// Sources are what can be completed.
type Sources struct {
	Commands []Choice // for a / at the start of the text
	Members  []Choice // after an @
	// Paths returns the files that a word after an @ may name, the best first; nil: none. It does not block.
	Paths func(typed string) []string
	Files fs.FS // the working directory, for paths after @./; nil: none
	// Arguments returns the choices for an argument of a command, after other arguments and as far as it is typed;
	// those that do not begin with what is typed are left out. nil: there are none.
	Arguments func(command string, before []string, typed string) []Choice
}

// Complete returns the choices for the word at the end of the text before the cursor, and the length of
// that word in bytes. first reports whether nothing precedes this text.
func Complete(before string, first bool, s Sources) (choices []Choice, word int) {
	start := strings.LastIndexAny(before, " \t") + 1
	typed := before[start:]
	switch {
	case first && start == 0 && strings.HasPrefix(typed, "/"):
		choices = withPrefix(s.Commands, typed)
	case strings.HasPrefix(typed, "@./") && s.Files != nil:
		choices = Paths(s.Files, "@./", strings.TrimPrefix(typed, "@./"))
	case strings.HasPrefix(typed, "@"):
		choices = append(withPrefix(s.Members, typed), s.found(typed)...)
	case first && strings.HasPrefix(before, "/") && !strings.HasPrefix(before, "//") && s.Arguments != nil:
		words := strings.Fields(before[:start])
		choices = withPrefix(s.Arguments(words[0], words[1:], typed), typed)
	}
	return choices[:min(len(choices), maxChoices)], len(typed)
}

// found returns the files that a word may name.
func (s Sources) found(typed string) (choices []Choice) {
	if s.Paths == nil {
		return nil
	}
	paths := s.Paths(typed[1:]) // also after an @ alone, which is for members: the list is made while the word is typed
	if len(typed) == 1 {
		return nil
	}
	for _, name := range paths {
		choices = append(choices, Choice{Text: "@" + name})
	}
	return choices
}

// withPrefix returns the choices that begin with the typed text, in any case.
func withPrefix(all []Choice, typed string) (matching []Choice) {
	for _, c := range all {
		if len(c.Text) >= len(typed) && strings.EqualFold(c.Text[:len(typed)], typed) {
			matching = append(matching, c)
		}
	}
	return matching
}

// Paths returns the files and directories below a directory that a typed path may continue to, each after prefix.
func Paths(files fs.FS, prefix, typed string) (choices []Choice) {
	dir, base := path.Split(typed)
	below := path.Clean("./" + dir)
	if info, err := fs.Stat(files, below); err != nil || !info.IsDir() {
		return nil // to open a named pipe could wait forever
	}
	f, err := files.Open(below)
	if err != nil {
		return nil
	}
	defer f.Close()
	opened, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil
	}
	entries, _ := opened.ReadDir(maxEntries) // those before an error are choices, too
	for _, entry := range entries {
		name := entry.Name()
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".")
		if hidden || !strings.HasPrefix(name, base) || strings.ContainsAny(name, " \t") || tty.SafeLine(name) != name {
			continue
		}
		if entry.IsDir() {
			name += "/"
		}
		choices = append(choices, Choice{Text: prefix + dir + name})
	}
	slices.SortFunc(choices, func(a, b Choice) int { return strings.Compare(a.Text, b.Text) })
	return choices
}
