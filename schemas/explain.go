package schemas

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// explain converts faults to problems, one for each property that has to be changed. Their messages describe the
// document, not the schema.
func explain(faults []fault) []Problem {
	problems := make([]Problem, len(faults))
	for i, f := range faults {
		problems[i] = Problem{Path: cmp.Or(f.pointer, "/"), Message: f.message()}
		switch f.keyword {
		case "required":
			problems[i].Missing = f.name
		case "additionalProperties":
			problems[i].Unknown = f.name
		}
	}
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(comparePointers(a.Path, b.Path), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(problems)
}

// comparePointers compares JSON pointers in the order of the document: item 2 before item 10.
func comparePointers(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(x, y string) int {
		if isNumber(x) && isNumber(y) {
			return compareNumbers(x, y)
		}
		return cmp.Compare(x, y)
	})
}

// message describes a fault.
func (f fault) message() string {
	switch r := f.rule; f.keyword {
	case "required":
		return fmt.Sprintf("missing property %q", shorten(f.name))
	case "additionalProperties":
		return fmt.Sprintf("unknown property %q", shorten(f.name))
	case "type":
		return "must be " + listed(f.types) + ", not " + describe(f.value)
	case "const":
		return fmt.Sprintf("must be %s, not %s", show(r.Const), describe(f.value))
	case "enum":
		return fmt.Sprintf("must be %s, not %s", oneOf(r.Enum), describe(f.value))
	case "format":
		return fmt.Sprintf("%s is not a %s such as 2026-11-21T02:30:10Z", show(f.value), r.Format)
	case "pattern":
		return fmt.Sprintf("%s does not match %s", show(f.value), r.Pattern)
	case "minLength":
		return "must not be empty"
	case "minItems":
		items, _ := f.value.([]any)
		return fmt.Sprintf("must have at least %d items, not %d", r.MinItems, len(items))
	case "minimum":
		return fmt.Sprintf("must be at least %v, not %s", *r.Minimum, show(f.value))
	case "contentEncoding":
		return "must be text in " + r.ContentEncoding
	}
	return f.keyword
}

// listed names types, each once.
func listed(types []string) string {
	var names []string
	for _, name := range types {
		if !slices.Contains(names, withArticle(name)) {
			names = append(names, withArticle(name))
		}
	}
	return strings.Join(names, " or ")
}
