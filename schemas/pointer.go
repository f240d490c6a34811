package schemas

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// instancePointer is where in the document an error is, as a plain JSON pointer.
func instancePointer(failure *jsonschema.ValidationError) string {
	return unescapeURL(failure.InstanceLocation)
}

// unescapeURL undoes the escapes that the validator puts around those of JSON pointers.
func unescapeURL(pointer string) string {
	if plain, err := url.PathUnescape(pointer); err == nil {
		return plain
	}
	return pointer
}

// lookup follows a JSON pointer; nil when it leads nowhere.
func lookup(value any, pointer string) any {
	if pointer == "" {
		return value
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		switch parent := value.(type) {
		case map[string]any:
			value = parent[unescapeToken(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			value = parent[i]
		default:
			return nil
		}
	}
	return value
}

func unescapeToken(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// comparePointers orders paths as a reader meets them: item 2 before item 10.
func comparePointers(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(x, y string) int {
		if isNumber(x) && isNumber(y) {
			return compareNumbers(x, y)
		}
		return cmp.Compare(x, y)
	})
}
