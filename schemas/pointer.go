package schemas

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// instancePointer returns the position of an error in the document as a JSON pointer.
func instancePointer(failure *jsonschema.ValidationError) string {
	pointer, _ := url.PathUnescape(failure.InstanceLocation) // the validator has escaped it
	return pointer
}

// lookup returns the value at a JSON pointer; nil if there is none.
func lookup(value any, pointer string) any {
	if pointer == "" {
		return value
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		switch parent := value.(type) {
		case map[string]any:
			value = parent[unescapeToken.Replace(token)]
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

var unescapeToken = strings.NewReplacer("~1", "/", "~0", "~")

// comparePointers compares JSON pointers in the order of the document: item 2 before item 10.
func comparePointers(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(x, y string) int {
		if isNumber(x) && isNumber(y) {
			return compareNumbers(x, y)
		}
		return cmp.Compare(x, y)
	})
}
