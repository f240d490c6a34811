package schemas

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// maxShown is the length of a value in a message, in code points.
const maxShown = 60

// message describes the violation of a rule. For keywords that the schemas do not use it
// returns other.
func (r rule) message(value any, other string) string {
	switch r.keyword {
	case "const":
		return fmt.Sprintf("must be %s, not %s", show(r.argument), describe(value))
	case "enum":
		return fmt.Sprintf("must be %s, not %s", oneOf(r.argument), describe(value))
	case "format":
		return fmt.Sprintf("%s is not a %s such as 2026-11-21T02:30:10Z", show(value), r.argument)
	case "pattern":
		return fmt.Sprintf("%s does not match %s", show(value), r.argument)
	case "minLength":
		return "must not be empty"
	case "minItems":
		items, _ := value.([]any)
		return fmt.Sprintf("must have at least %v items, not %d", r.argument, len(items))
	case "minimum":
		return fmt.Sprintf("must be at least %v, not %s", r.argument, show(value))
	case "contentEncoding":
		return fmt.Sprintf("must be text in %v", r.argument)
	}
	return other
}

func oneOf(values any) string {
	list, _ := values.([]any)
	shown := make([]string, len(list))
	for i, v := range list {
		shown[i] = show(v)
	}
	if len(shown) > 2 {
		return "one of " + strings.Join(shown, ", ")
	}
	return strings.Join(shown, " or ")
}

func withArticle(typeName string) string {
	switch typeName {
	case "integer":
		return "a whole number"
	case "object", "array":
		return "an " + typeName
	case "null":
		return "null"
	}
	return "a " + typeName
}

// describe returns a short description of a value of any size.
func describe(value any) string {
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	}
	return show(value)
}

// show returns a value as JSON, shortened.
func show(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(shorten(text))
	}
	text, _ := json.Marshal(value) // it was decoded from JSON
	return shorten(string(text))
}

func shorten(text string) string {
	n := 0
	for i := range text {
		if n == maxShown {
			return text[:i] + "…"
		}
		n++
	}
	return text
}
