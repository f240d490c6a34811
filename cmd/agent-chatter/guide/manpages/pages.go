package manpages

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/alecthomas/kong"
)

// A Topic is a page of the manual.
type Topic struct {
	Name, Summary string
	Text          string // Markdown
}

// A Manual is what pages are made of.
type Manual struct {
	Commands *kong.Node // of the whole command line
	Topics   []Topic
	Build    app.Build
}

// Write writes all pages into the directories man1 and man7 of a directory, and returns how many there are.
func (m Manual) Write(dir string) (pages int, err error) {
	err = m.each(func(name, section, page string) error {
		dir := filepath.Join(dir, "man"+section)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		pages++
		return os.WriteFile(filepath.Join(dir, name+"."+section), []byte(page), 0o644)
	})
	return pages, err
}

// each calls write for all pages.
func (m Manual) each(write func(name, section, page string) error) error {
	nodes := []*kong.Node{m.Commands}
	for len(nodes) > 0 {
		node := nodes[0]
		nodes = append(nodes[1:], children(node)...)
		if err := write(pageName(node), "1", m.command(node)); err != nil {
			return err
		}
	}
	for _, topic := range m.Topics {
		if err := write(m.Commands.Name+"-"+topic.Name, "7", m.topic(topic)); err != nil {
			return err
		}
	}
	return nil
}

// children returns the subcommands that help shows.
func children(node *kong.Node) (shown []*kong.Node) {
	for _, child := range node.Children {
		if !child.Hidden {
			shown = append(shown, child)
		}
	}
	return shown
}

// words returns the words of a command, with that of the program.
func words(node *kong.Node) string {
	if node.Parent == nil {
		return node.Name
	}
	return words(node.Parent) + " " + node.Name
}

func pageName(node *kong.Node) string { return strings.ReplaceAll(words(node), " ", "-") }

// start begins a page with its name, as man and apropos want it.
func (m Manual) start(name, section, summary string) *writer {
	w := &writer{program: m.Commands.Name}
	day, _, _ := strings.Cut(m.Build.Date, "T")
	w.macro("TH", strings.ToUpper(name), section, day, m.Commands.Name+" "+m.Build.Version, m.Commands.Name)
	w.WriteString(".nh\n.ad l\n") // a hyphen that breaks a line would look like one of a flag
	w.macro("SH", "NAME")
	w.line(escape(name) + ` \- ` + escape(strings.TrimSuffix(summary, ".")))
	return w
}
