package home

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ConfigError lists the problems of a configuration.
type ConfigError struct {
	Path     string
	Problems []string // at least one
}

func (e *ConfigError) Error() string {
	if len(e.Problems) == 1 {
		return e.Path + ": " + e.Problems[0]
	}
	return e.Path + ":\n  - " + strings.Join(e.Problems, "\n  - ")
}

// problemsOf checks each setting alone, so that one problem hides no other. If every
// setting alone is valid, or there are none, it returns the problem of the whole file.
func problemsOf(data []byte, whole error) (all []string) {
	var sections map[string]json.RawMessage
	if json.Unmarshal(data, &sections) != nil {
		return []string{problemOf("", whole)}
	}
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		if !hasField(reflect.TypeFor[Config](), section) {
			all = append(all, fmt.Sprintf("unknown setting %q", section))
			continue
		}
		var settings map[string]json.RawMessage
		if json.Unmarshal(sections[section], &settings) != nil || len(settings) == 0 {
			all = appendProblem(all, section, map[string]any{section: sections[section]})
		}
		for _, setting := range slices.Sorted(maps.Keys(settings)) {
			if !hasField(reflect.TypeFor[Config](), section, setting) {
				all = append(all, fmt.Sprintf("unknown setting %q", section+"."+setting))
				continue
			}
			one := map[string]any{section: map[string]any{setting: settings[setting]}}
			all = appendProblem(all, section+"."+setting, one)
		}
	}
	if len(all) == 0 {
		all = []string{problemOf("", whole)}
	}
	slices.Sort(all)
	return all
}

// hasField reports whether a struct has the field at a path of JSON names. Like
// encoding/json, it ignores case. A map has all fields.
func hasField(t reflect.Type, path ...string) bool {
	if len(path) == 0 {
		return true
	}
	if t.Kind() == reflect.Map {
		return hasField(t.Elem(), path[1:]...)
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for f := range t.Fields() {
		if name := f.Tag.Get("json"); name != "-" && strings.EqualFold(name, path[0]) {
			return hasField(f.Type, path[1:]...)
		}
	}
	return false
}

// appendProblem decodes and checks a configuration that has only this setting.
func appendProblem(all []string, name string, setting map[string]any) []string {
	document, err := json.Marshal(setting)
	if err != nil {
		return all // unreachable: it was decoded from JSON
	}
	c, err := decode(document)
	if err == nil {
		err = c.check()
	}
	if err == nil {
		return all
	}
	return append(all, problemOf(name, err))
}

// problemOf describes a problem in the words of the configuration, not of encoding/json;
// a syntax error stays as it is. The name is that of a setting; "" is the whole file.
func problemOf(name string, err error) string {
	var wrong *json.UnmarshalTypeError
	var outside *rangeError
	switch {
	case errors.As(err, &wrong):
		name = cmp.Or(fieldBelow(name, wrong.Field), wrong.Field, "the file")
		value := describeValue(wrong.Value)
		if _, err := strconv.Atoi(value); errors.Is(err, strconv.ErrRange) {
			return fmt.Sprintf("%s is out of range: %s", name, value)
		}
		return fmt.Sprintf("%s must be %s, not %s", name, expected(wrong.Type), value)
	case errors.As(err, &outside), name == "":
		return err.Error()
	}
	return name + ": " + err.Error()
}

// fieldBelow returns the name of the field that an UnmarshalTypeError of a setting is about, which may be below the
// setting. The field of the error lacks the keys of maps.
func fieldBelow(setting, field string) string {
	last := field[strings.LastIndexByte(field, '.')+1:]
	if setting == "" || last == field || strings.HasSuffix(setting, "."+last) {
		return setting
	}
	return setting + "." + last
}

// expected names the values of a setting.
func expected(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Struct:
		return "an object"
	case reflect.Slice:
		return "a list of strings, such as [\"…\"]"
	}
	return "a string"
}

// describeValue describes what UnmarshalTypeError.Value has: a kind of JSON value, or a
// number.
func describeValue(kind string) string {
	if _, number, found := strings.Cut(kind, " "); found { // "number 1.5"
		return number
	}
	switch kind {
	case "object", "array":
		return "an " + kind
	case "bool":
		return "true or false"
	case "string":
		return "a string"
	}
	return "a " + kind
}
