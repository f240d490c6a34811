package schemas

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// fault is a violation of one keyword of the schema.
type fault struct {
	pointer  string // JSON pointer to the invalid value; "" is the document
	keyword  string
	expected []string // for keyword "type": the accepted types
	message  string
	missing  string // for keyword "required": the name of the property
}

// explain converts the validator's tree of errors to problems, one for each field that has to
// be changed. Their messages describe the document, not the schema.
func explain(document any, failure *jsonschema.ValidationError) []Problem {
	e := explainer{document: document}
	faults := e.faults(failure)
	slices.SortFunc(faults, func(a, b fault) int {
		return cmp.Or(comparePointers(a.pointer, b.pointer),
			cmp.Compare(a.pointer, b.pointer), cmp.Compare(a.message, b.message))
	})
	var problems []Problem
	for _, f := range faults {
		problems = append(problems, Problem{cmp.Or(f.pointer, "/"), f.message, f.missing})
	}
	return slices.Compact(problems)
}

type explainer struct {
	document any
}

// faults returns the faults of the leaves of the tree of errors. Inner nodes add no
// information, except anyOf: only one of its alternatives is explained.
func (e explainer) faults(failure *jsonschema.ValidationError) []fault {
	if len(failure.Causes) == 0 {
		return e.leaf(failure)
	}
	if e.rule(failure).keyword == "anyOf" {
		return e.bestAlternative(failure)
	}
	var faults []fault
	for _, cause := range failure.Causes {
		faults = append(faults, e.faults(cause)...)
	}
	return faults
}

// bestAlternative returns the faults of the alternative of an anyOf that the value was most
// likely meant to match: of those that accept its type, the first with the fewest unknown
// fields.
func (e explainer) bestAlternative(failure *jsonschema.ValidationError) []fault {
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

func unknownFields(faults []fault, pointer string) (n int) {
	for _, f := range faults {
		if isAt(pointer, "additionalProperties")(f) {
			n++
		}
	}
	return n
}

// leaf returns the faults of one error: one for each missing or unknown field.
func (e explainer) leaf(failure *jsonschema.ValidationError) []fault {
	pointer := instancePointer(failure)
	r := e.rule(failure)
	value := lookup(e.document, pointer)
	var faults []fault
	switch r.keyword {
	case "required":
		names := missing(value, r.argument)
		faults = eachField(pointer, r.keyword, "missing property %q", names)
		for i := range faults {
			faults[i].missing = names[i]
		}
	case "additionalProperties":
		faults = eachField(pointer, r.keyword, "unknown property %q", unknown(value, r.siblings["properties"]))
	case "type":
		faults = []fault{e.wrongType(pointer, stringList(r.argument))}
	}
	if len(faults) > 0 {
		return faults
	}
	// A field with an empty name is not found: the validator omits the name from its paths.
	return []fault{{pointer: pointer, keyword: r.keyword, message: r.message(value, failure.Message)}}
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

// missing returns the required fields that an object lacks.
func missing(value, required any) []string {
	fields, _ := value.(map[string]any)
	return slices.DeleteFunc(stringList(required), func(name string) bool {
		_, found := fields[name]
		return found
	})
}

// unknown returns the fields of an object that its schema does not define. The schemas define
// fields only with "properties".
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

// rule is a violated keyword of a schema.
type rule struct {
	keyword  string
	argument any
	siblings map[string]any // all keywords of the same object
}

// rule looks up the violated keyword in the schema. The validator identifies it by the URL of
// the file and a JSON pointer, in which the names of our schemas need no escapes.
func (e explainer) rule(failure *jsonschema.ValidationError) rule {
	file, pointer, _ := strings.Cut(failure.AbsoluteKeywordLocation, "#")
	slash := strings.LastIndexByte(pointer, '/')
	if slash < 0 {
		return rule{}
	}
	siblings, _ := lookup(parsedSource(file), pointer[:slash]).(map[string]any)
	keyword := pointer[slash+1:]
	return rule{keyword: keyword, argument: siblings[keyword], siblings: siblings}
}

// stringList returns the argument of a keyword that takes a string or a list of strings.
func stringList(argument any) []string {
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
