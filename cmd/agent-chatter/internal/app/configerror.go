package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// configError says everything that is wrong with a configuration.
type configError struct {
	path     string
	problems []string // at least one
}

func (e *configError) Error() string {
	if len(e.problems) == 1 {
		return e.path + ": " + e.problems[0]
	}
	return e.path + ":\n  - " + strings.Join(e.problems, "\n  - ")
}

// configProblems looks at each setting by itself, so that one that is wrong hides
// no other. A document that has none, or whose settings are all sound, has the
// problem that was found in it as a whole.
func configProblems(data []byte, whole error) (all []string) {
	var sections map[string]json.RawMessage
	if json.Unmarshal(data, &sections) != nil {
		return []string{configProblem("", whole)}
	}
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		var settings map[string]json.RawMessage
		if json.Unmarshal(sections[section], &settings) != nil || len(settings) == 0 {
			all = appendProblem(all, section, map[string]any{section: sections[section]})
		}
		for _, setting := range slices.Sorted(maps.Keys(settings)) {
			one := map[string]any{section: map[string]any{setting: settings[setting]}}
			all = appendProblem(all, section+"."+setting, one)
		}
	}
	if len(all) == 0 {
		all = []string{configProblem("", whole)}
	}
	slices.Sort(all)
	return slices.Compact(all) // an unknown section is one problem, whatever is in it
}

// appendProblem adds what is wrong with one setting.
func appendProblem(all []string, name string, setting map[string]any) []string {
	document, err := json.Marshal(setting)
	if err != nil {
		return all // it was JSON a moment ago
	}
	c, err := decodeConfig(document)
	if err == nil {
		err = c.check()
	}
	if err == nil {
		return all
	}
	return append(all, configProblem(name, err))
}

// configProblem is what is wrong, in words of the configuration and not of the
// decoder.
func configProblem(name string, err error) string {
	var wrong *json.UnmarshalTypeError
	unknown, found := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case found:
		return "there is no setting " + unknown
	case errors.As(err, &wrong):
		return fmt.Sprintf("%s is %s, not %s", name, expected(wrong.Type), article(wrong.Value))
	case name != "" && !strings.Contains(err.Error(), name):
		return name + ": " + err.Error()
	}
	return err.Error()
}

// expected is what a setting takes.
func expected(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Struct:
		return "an object"
	}
	return "a text"
}

// article is a kind of JSON, as the decoder calls it, with the word before it.
func article(kind string) string {
	if _, number, found := strings.Cut(kind, " "); found { // "number 1.5"
		return number
	}
	switch kind {
	case "object", "array":
		return "an " + kind
	case "bool":
		return "true or false"
	case "string":
		return "a text"
	}
	return "a " + kind
}
