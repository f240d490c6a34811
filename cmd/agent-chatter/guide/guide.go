package guide

import (
	"embed"
	"strings"
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

// find returns the topic of a name, in upper or lower case. If there is none, ok is
// false and nearest is the topic with the most similar name.
func find(name string) (nearest Topic, ok bool) {
	name = strings.ToLower(name)
	least := -1
	for _, topic := range Topics() {
		distance := editDistance(name, topic.Name)
		if distance == 0 {
			return topic, true
		}
		if strings.HasPrefix(topic.Name, name) {
			distance = 0
		}
		if least < 0 || distance < least {
			nearest, least = topic, distance
		}
	}
	return nearest, false
}

// editDistance is the Levenshtein distance, in bytes: the least number of bytes
// to insert, delete or replace.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a[:i] to the prefixes of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
