package schemas

import (
	"encoding/json"
	"strconv"
	"strings"
)

// maxShown is the length of a value in a message, in code points.
const maxShown = 60

func oneOf(values []any) string {
	shown := make([]string, len(values))
	for i, v := range values {
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
