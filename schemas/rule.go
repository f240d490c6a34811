package schemas

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A rule is a JSON Schema with the keywords of draft-07 that the files of this directory use. A document that matches
// it is one that any validator accepts.
type rule struct {
	Ref         string           `json:"$ref"` // the other keywords beside it are ignored
	Definitions map[string]*rule `json:"definitions"`

	Type            oneOrMore        `json:"type"`
	Const           any              `json:"const"` // nil: not restricted
	Enum            []any            `json:"enum"`
	Format          string           `json:"format"` // only date-time restricts
	Pattern         string           `json:"pattern"`
	MinLength       int              `json:"minLength"`
	ContentEncoding string           `json:"contentEncoding"` // base64
	Minimum         *float64         `json:"minimum"`
	MinItems        int              `json:"minItems"`
	Items           *rule            `json:"items"`
	Required        []string         `json:"required"`
	Properties      map[string]*rule `json:"properties"`
	Additional      *otherProperties `json:"additionalProperties"`

	AllOf []*rule `json:"allOf"`
	AnyOf []*rule `json:"anyOf"`
	If    *rule   `json:"if"`
	Then  *rule   `json:"then"`
	Else  *rule   `json:"else"`

	referred *rule          // to which Ref points
	pattern  *regexp.Regexp // Pattern
}

// oneOrMore is a string or a list of strings.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(o))
	}
	*o = make(oneOrMore, 1)
	return json.Unmarshal(text, &(*o)[0])
}

// otherProperties are the properties of an object that have no rule of their own.
type otherProperties struct {
	refused bool
	rule    *rule // nil: any value
}

func (o *otherProperties) UnmarshalJSON(text []byte) error {
	if text[0] == '{' {
		return json.Unmarshal(text, &o.rule)
	}
	var allowed bool
	err := json.Unmarshal(text, &allowed)
	o.refused = !allowed
	return err
}

// prepare compiles the patterns of a rule and of those in it, and finds what they refer to. root is the rule of the
// whole file.
func (r *rule) prepare(root *rule) (err error) {
	if r == nil {
		return nil
	}
	if r.Pattern != "" {
		if r.pattern, err = regexp.Compile(r.Pattern); err != nil {
			return err
		}
	}
	if r.Ref != "" {
		if r.referred, err = refer(root, r.Ref); err != nil {
			return err
		}
	}
	parts := slices.Concat(r.AllOf, r.AnyOf, []*rule{r.Items, r.If, r.Then, r.Else})
	if r.Additional != nil {
		parts = append(parts, r.Additional.rule)
	}
	for _, named := range []map[string]*rule{r.Definitions, r.Properties} {
		for _, part := range named {
			parts = append(parts, part)
		}
	}
	for _, part := range parts {
		if err := part.prepare(root); err != nil {
			return err
		}
	}
	return nil
}

// refer returns the rule to which a $ref of a file points: a file of this directory, a definition in one, or both.
func refer(root *rule, ref string) (*rule, error) {
	file, pointer, _ := strings.Cut(ref, "#")
	if file != "" {
		var err error
		if root, err = ruleOf(strings.TrimSuffix(file, ".json")); err != nil {
			return nil, err
		}
	}
	if pointer == "" {
		return root, nil
	}
	name, _ := strings.CutPrefix(pointer, "/definitions/")
	if definition := root.Definitions[name]; definition != nil {
		return definition, nil
	}
	return nil, fmt.Errorf("there is no %s", ref)
}

// A fault is a violation of one keyword.
type fault struct {
	pointer string // JSON pointer to the invalid value; "" is that to which the rule was applied
	keyword string
	rule    *rule
	value   any
	name    string   // of the property that is missing or unknown
	types   []string // for keyword "type": those that are accepted
}

// check returns the faults of a value; none if it matches.
func (r *rule) check(value any) []fault {
	if r == nil {
		return nil
	}
	if r.referred != nil {
		return r.referred.check(value)
	}
	if len(r.Type) > 0 && !slices.ContainsFunc(r.Type, func(name string) bool { return hasType(value, name) }) {
		return []fault{{keyword: "type", rule: r, value: value, types: r.Type}}
	}
	var faults []fault
	fail := func(keyword string, violated bool) {
		if violated {
			faults = append(faults, fault{keyword: keyword, rule: r, value: value})
		}
	}
	fail("const", r.Const != nil && !reflect.DeepEqual(r.Const, value))
	fail("enum", r.Enum != nil && !slices.ContainsFunc(r.Enum, func(v any) bool { return reflect.DeepEqual(v, value) }))
	switch value := value.(type) {
	case string:
		fail("format", r.Format == "date-time" && !isDateTime(value))
		fail("minLength", utf8.RuneCountInString(value) < r.MinLength)
		fail("pattern", r.pattern != nil && !r.pattern.MatchString(value))
		fail("contentEncoding", r.ContentEncoding == "base64" && !isBase64(value))
	case float64:
		fail("minimum", r.Minimum != nil && value < *r.Minimum)
	case []any:
		fail("minItems", len(value) < r.MinItems)
		for i, item := range value {
			faults = append(faults, at(strconv.Itoa(i), r.Items.check(item))...)
		}
	case map[string]any:
		faults = append(faults, r.checkProperties(value)...)
	}
	for _, part := range r.AllOf {
		faults = append(faults, part.check(value)...)
	}
	faults = append(faults, r.checkAlternatives(value)...)
	if r.If != nil {
		branch := r.Then
		if len(r.If.check(value)) > 0 {
			branch = r.Else
		}
		faults = append(faults, branch.check(value)...)
	}
	return faults
}

func (r *rule) checkProperties(object map[string]any) []fault {
	var faults []fault
	for _, name := range r.Required {
		if _, found := object[name]; !found {
			faults = append(faults, fault{keyword: "required", rule: r, name: name})
		}
	}
	for name, value := range object {
		property, found := r.Properties[name]
		switch {
		case found:
			faults = append(faults, at(name, property.check(value))...)
		case r.Additional == nil:
		case r.Additional.refused:
			faults = append(faults, fault{keyword: "additionalProperties", rule: r, name: name})
		default:
			faults = append(faults, at(name, r.Additional.rule.check(value))...)
		}
	}
	return faults
}

// checkAlternatives returns the faults of a value that matches none of AnyOf: those of the alternative that it was most
// likely meant to match. Of those that accept its type, that is the first with the fewest unknown properties.
func (r *rule) checkAlternatives(value any) []fault {
	var best []fault
	var types []string
	for _, alternative := range r.AnyOf {
		faults := alternative.check(value)
		if len(faults) == 0 {
			return nil
		}
		if i := slices.IndexFunc(faults, isHere("type")); i >= 0 {
			types = append(types, faults[i].types...)
		} else if best == nil || unknownProperties(faults) < unknownProperties(best) {
			best = faults
		}
	}
	if best == nil && len(types) > 0 {
		return []fault{{keyword: "type", rule: r, value: value, types: types}}
	}
	return best
}

func unknownProperties(faults []fault) (n int) {
	for _, f := range faults {
		if isHere("additionalProperties")(f) {
			n++
		}
	}
	return n
}

// isHere finds a fault of the value itself.
func isHere(keyword string) func(fault) bool {
	return func(f fault) bool { return f.pointer == "" && f.keyword == keyword }
}

// at returns the faults of a property or an item as those of what it is in.
func at(token string, faults []fault) []fault {
	for i := range faults {
		faults[i].pointer = "/" + escapeToken.Replace(token) + faults[i].pointer
	}
	return faults
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")

func hasType(value any, name string) bool {
	switch value := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case float64:
		return name == "number" || name == "integer" && value == math.Trunc(value)
	case string:
		return name == "string"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

// isDateTime accepts a time if it is RFC 3339 and package time can parse it. Package time also parses "T2:30:00Z",
// "10,5" and an offset of 24:60, which are not RFC 3339, and rejects leap seconds, which are.
func isDateTime(text string) bool {
	if new(time.Time).UnmarshalText([]byte(text)) != nil {
		return false
	}
	n := len(text)
	return text[len("2006-01-02T15")] == ':' && !strings.Contains(text, ",") &&
		(text[n-1] == 'Z' || text[n-5:n-3] <= "23" && text[n-2:] <= "59")
}

func isBase64(text string) bool {
	_, err := base64.StdEncoding.DecodeString(text)
	return err == nil
}
