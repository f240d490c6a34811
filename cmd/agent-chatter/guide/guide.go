package guide

import (
	"embed"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

//go:embed *.md
var pages embed.FS

// Topic is a page of the manual.
type Topic struct {
	Name    string
	Summary string // one sentence
}

// Topics returns all topics in reading order.
func Topics() []Topic {
	index, err := pages.ReadFile("README.md")
	if err != nil {
		panic(err) // it is embedded
	}
	var topics []Topic
	for line := range strings.Lines(string(index)) { // - [NAME](NAME.md): SUMMARY
		link, isEntry := strings.CutPrefix(line, "- [")
		if name, rest, ok := strings.Cut(link, "]("); isEntry && ok {
			_, summary, _ := strings.Cut(strings.TrimSpace(rest), "): ")
			topics = append(topics, Topic{Name: name, Summary: summary})
		}
	}
	return topics
}

// text returns the page as Markdown, without the comments for the tests.
func (t Topic) text() string {
	page, err := pages.ReadFile(t.Name + ".md")
	if err != nil {
		panic(err) // a test compares README.md with the pages
	}
	var b strings.Builder
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "<!-- ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// linkToFile matches the target of a link to another page, or to a file of the repository.
var linkToFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\]\(([^):#]+)\)`)
})

// page returns the text for a terminal: without pictures, and with the command that prints a page instead of a link
// to it.
func (t Topic) page() string {
	var b strings.Builder
	for line := range strings.Lines(t.text()) {
		if !strings.HasPrefix(line, "![") {
			b.WriteString(line)
		}
	}
	return linkToFile().ReplaceAllStringFunc(b.String(), func(link string) string {
		target := linkToFile().FindStringSubmatch(link)[1]
		if topic, isPage := strings.CutSuffix(target, ".md"); isPage {
			return "](<guide " + topic + ">)"
		}
		return "](" + path.Join("cmd/agent-chatter/guide", target) + ")"
	})
}

// find returns the topic of a name, in upper or lower case. If there is none, ok is false and nearest is the
// name of the most similar topic, "" if none is similar.
func find(name string) (topic Topic, nearest string, ok bool) {
	topics := Topics()
	names := make([]string, len(topics))
	for i, t := range topics {
		if names[i] = t.Name; strings.EqualFold(t.Name, name) {
			return t, "", true
		}
	}
	nearest, _ = hint.Nearest(name, names)
	return Topic{}, nearest, false
}
