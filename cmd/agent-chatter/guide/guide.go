// Package guide holds the manual of agent-chatter: Markdown pages, one per
// topic, embedded in the program.
//
// README.md lists the topics in reading order, one line each. The pages link to
// each other and to other files of the repository, so that they can be read
// there as well.
package guide

import (
	"embed"
	"regexp"
)

//go:embed *.md
var pages embed.FS

// Topic is a page of the manual.
type Topic struct {
	Name    string
	Summary string // one sentence
}

// entry matches a topic in README.md.
var entry = regexp.MustCompile(`(?m)^- \[([a-z]+)\]\([a-z]+\.md\): (.+)$`)

// Topics returns all topics in reading order.
func Topics() []Topic {
	index, err := pages.ReadFile("README.md")
	if err != nil {
		panic(err) // it is embedded
	}
	var topics []Topic
	for _, match := range entry.FindAllSubmatch(index, -1) {
		topics = append(topics, Topic{Name: string(match[1]), Summary: string(match[2])})
	}
	return topics
}

// comment matches an HTML comment, which is for the tests.
var comment = regexp.MustCompile(`(?m)^<!-- .* -->\n`)

// Page returns the Markdown text of a topic, and whether there is one.
func Page(name string) (text string, ok bool) {
	for _, topic := range Topics() {
		if topic.Name == name {
			page, err := pages.ReadFile(name + ".md")
			return comment.ReplaceAllLiteralString(string(page), ""), err == nil
		}
	}
	return "", false
}
