package schemas

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// fault is a Problem on the way: which keyword of the schema was not met, and where.
type fault struct {
	pointer  string // JSON pointer into the document, "" for all of it
	keyword  string
	expected []string // keyword "type": what would do
	message  string
}

// explain turns the validator's tree of errors into problems: one for each field that has to
// change, in the words of somebody who edits the document.
func explain(document any, failure *jsonschema.ValidationError) []Problem {
	e := explainer{document: document, sources: map[string]any{}}
	faults := e.faults(failure)
	slices.SortFunc(faults, func(a, b fault) int {
		return cmp.Or(comparePointers(a.pointer, b.pointer), cmp.Compare(a.pointer, b.pointer), cmp.Compare(a.message, b.message))
	})
	var problems []Problem
	for _, f := range faults {
		problems = append(problems, Problem{Path: cmp.Or(f.pointer, "/"), Message: f.message})
	}
	return slices.Compact(problems)
}

type explainer struct {
	document any
	sources  map[string]any // parsed schema files by URL
}

// faults collects the leaves of the tree. What lies between them only repeats that something
// below is wrong, but of alternatives a single one is worth explaining.
func (e explainer) faults(failure *jsonschema.ValidationError) []fault {
	if len(failure.Causes) == 0 {
		return e.leaf(failure)
	}
	if e.asked(failure).keyword == "anyOf" {
		return e.alternatives(failure)
	}
	var faults []fault
	for _, cause := range failure.Causes {
		faults = append(faults, e.faults(cause)...)
	}
	return faults
}

// alternatives explains the one that the value was most likely meant to be: it has the
// value's type and knows most of its fields. The first one wins a draw.
func (e explainer) alternatives(failure *jsonschema.ValidationError) []fault {
	pointer := instancePointer(failure)
	var best []fault
	var expected []string
	for _, cause := range failure.Causes {
		faults := e.faults(cause)
		if i := slices.IndexFunc(faults, isAt(pointer, "type")); i >= 0 {
			expected = append(expected, faults[i].expected...)
		} else if best == nil || unknownFields(faults, pointer) < unknownFields(best, pointer) {
			best = faults
		}
	}
	if best == nil {
		return []fault{e.wrongType(pointer, expected)}
	}
	return best
}

func isAt(pointer, keyword string) func(fault) bool {
	return func(f fault) bool { return f.pointer == pointer && f.keyword == keyword }
}

func unknownFields(faults []fault, pointer string) int {
	n := 0
	for _, f := range faults {
		if isAt(pointer, "additionalProperties")(f) {
			n++
		}
	}
	return n
}

// leaf words one error of the validator; for missing and unknown fields, one each.
func (e explainer) leaf(failure *jsonschema.ValidationError) []fault {
	pointer := instancePointer(failure)
	a := e.asked(failure)
	value := lookup(e.document, pointer)
	var faults []fault
	switch a.keyword {
	case "required":
		faults = eachField(pointer, a.keyword, "missing property %q", missing(value, a.argument))
	case "additionalProperties":
		faults = eachField(pointer, a.keyword, "unknown property %q", unknown(value, a.siblings["properties"]))
	case "type":
		faults = []fault{e.wrongType(pointer, strs(a.argument))}
	}
	if len(faults) > 0 {
		return faults
	}
	// Also when nothing was found: the validator leaves an empty name out of its paths.
	return []fault{{pointer: pointer, keyword: a.keyword, message: a.message(value, failure.Message)}}
}

func (e explainer) wrongType(pointer string, expected []string) fault {
	var wanted []string
	for _, name := range expected {
		if !slices.Contains(wanted, withArticle(name)) {
			wanted = append(wanted, withArticle(name))
		}
	}
	message := fmt.Sprintf("must be %s, not %s", strings.Join(wanted, " or "), describe(lookup(e.document, pointer)))
	return fault{pointer: pointer, keyword: "type", expected: expected, message: message}
}

func eachField(pointer, keyword, format string, names []string) []fault {
	var faults []fault
	for _, name := range names {
		faults = append(faults, fault{pointer: pointer, keyword: keyword, message: fmt.Sprintf(format, shorten(name))})
	}
	return faults
}

// missing lists what is required of an object and not there.
func missing(value, required any) []string {
	fields, _ := value.(map[string]any)
	return slices.DeleteFunc(strs(required), func(name string) bool {
		_, found := fields[name]
		return found
	})
}

// unknown lists what an object has and the schema does not. Our schemas describe fields by
// "properties" alone.
func unknown(value, properties any) []string {
	fields, _ := value.(map[string]any)
	known, _ := properties.(map[string]any)
	var names []string
	for name := range fields {
		if _, found := known[name]; !found {
			names = append(names, name)
		}
	}
	return names
}

// asked is what a schema asks for at the place of an error.
type asked struct {
	keyword  string
	argument any
	siblings map[string]any // all keywords of that place
}

// asked looks the failed keyword up in the schema's text. The validator names it by the URL
// of the file and a JSON pointer.
func (e explainer) asked(failure *jsonschema.ValidationError) asked {
	file, pointer, _ := strings.Cut(failure.AbsoluteKeywordLocation, "#")
	if _, parsed := e.sources[file]; !parsed {
		e.sources[file] = parsedSource(file)
	}
	pointer = unescapeURL(pointer)
	slash := strings.LastIndexByte(pointer, '/')
	if slash < 0 {
		return asked{}
	}
	siblings, _ := lookup(e.sources[file], pointer[:slash]).(map[string]any)
	keyword := pointer[slash+1:]
	return asked{keyword: keyword, argument: siblings[keyword], siblings: siblings}
}

// strs reads a keyword that takes one string or several.
func strs(argument any) []string {
	if one, ok := argument.(string); ok {
		return []string{one}
	}
	var several []string
	list, _ := argument.([]any)
	for _, item := range list {
		if text, ok := item.(string); ok {
			several = append(several, text)
		}
	}
	return several
}
