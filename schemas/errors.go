package schemas

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// InvalidError says everything that is wrong with a document.
type InvalidError struct {
	Schema   string    // the name of the schema
	Problems []Problem // at least one, sorted by path, none twice
}

// Problem is one thing that has to be changed.
type Problem struct {
	Path    string // of the field, a JSON pointer; "/" is the document itself
	Message string // what is wrong with it
}

// Error is a line for every problem, and where to look. Nothing of the document reaches a
// terminal as a control character.
func (e *InvalidError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Invalid %s:\n", e.Schema)
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "  - %s: %s\n", printable(p.Path), printable(p.Message))
	}
	fmt.Fprintf(&b, "\nPlease check the schema: schemas/%s.json", e.Schema)
	return b.String()
}

// VersionError says that a document is of a version which this program does not read.
type VersionError struct {
	Schema    string // the name of the schema
	Version   string // the document's
	Newer     bool   // than this program knows; otherwise older than it reads
	Supported string // the version to write
}

func (e *VersionError) Error() string {
	if e.Newer {
		return fmt.Sprintf("Schema version %s is not supported. Please upgrade agent-chatter.", e.Version)
	}
	return fmt.Sprintf("Schema version %s is deprecated. Please migrate to version %s.", e.Version, e.Supported)
}

// printable writes as escapes what a terminal would obey, line breaks among them: names of
// fields are somebody else's text.
func printable(text string) string {
	if strings.IndexFunc(text, isUnprintable) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isUnprintable(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isUnprintable(r rune) bool { return !unicode.IsPrint(r) }
