package schemas

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// shownCharacters is how much of a value a message repeats.
const shownCharacters = 60

// message says what a value must be; what is not among our keywords, in the validator's words.
func (a asked) message(value any, otherwise string) string {
	switch a.keyword {
	case "const":
		return fmt.Sprintf("must be %s, not %s", show(a.argument), describe(value))
	case "enum":
		return fmt.Sprintf("must be %s, not %s", oneOf(a.argument), describe(value))
	case "format":
		return fmt.Sprintf("%s is not a %s such as 2026-11-21T02:30:10Z", show(value), a.argument)
	case "pattern":
		return fmt.Sprintf("%s does not match %s", show(value), a.argument)
	case "minLength":
		return "must not be empty"
	case "minItems":
		items, _ := value.([]any)
		return fmt.Sprintf("must have at least %v items, not %d", a.argument, len(items))
	case "minimum":
		return fmt.Sprintf("must be at least %v, not %s", a.argument, show(value))
	case "contentEncoding":
		return fmt.Sprintf("must be text in %v", a.argument)
	}
	return otherwise
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

// describe says what a value is, in a few words whatever its size.
func describe(value any) string {
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	}
	return show(value)
}

// show writes a value as JSON, shortened.
func show(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(shorten(text))
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return shorten(string(text))
}

func shorten(text string) string {
	n := 0
	for i := range text {
		if n == shownCharacters {
			return text[:i] + "…"
		}
		n++
	}
	return text
}
