package schemas

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// InvalidError lists the problems of a document.
type InvalidError struct {
	Schema   string    // the name of the schema
	Problems []Problem // at least one, sorted by path, without duplicates
	Newer    bool      // the document has a newer minor version, which may define other properties
}

// Problem is an error in a document.
type Problem struct {
	Path    string // JSON pointer to the field; "/" is the document itself
	Message string // what is wrong with it
	Missing string // the name of the property that an object lacks; "" for any other problem
	Unknown string // the name of the property that the schema does not define; "" for any other problem
}

// Error returns a line for each problem and the name of the schema. Control characters of the
// document are escaped.
func (e *InvalidError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Invalid %s:\n", e.Schema)
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "  - %s: %s\n", printable(p.Path), printable(p.Message))
	}
	fmt.Fprintf(&b, "\nPlease check the schema: schemas/%s.json", e.Schema)
	return b.String()
}

// VersionError reports a document of a version that this program does not read.
type VersionError struct {
	Schema    string // the name of the schema
	Version   string // of the document
	Newer     bool   // newer than the supported versions, otherwise older
	Supported string // the version to write
}

func (e *VersionError) Error() string {
	if e.Newer {
		return fmt.Sprintf("Schema version %s is not supported. Please upgrade agent-chatter.", e.Version)
	}
	return fmt.Sprintf("Schema version %s is deprecated. Please migrate to version %s.", e.Version, e.Supported)
}

// printable escapes control characters and line breaks: the names of fields come from the
// document.
func printable(text string) string {
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
