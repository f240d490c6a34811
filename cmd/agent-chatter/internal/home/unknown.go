package home

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

// withoutUnknown returns a configuration without the unknown settings that may be left out, and their names. One that
// is no JSON object stays as it is.
func withoutUnknown(data []byte) (known []byte, unknown []string) {
	var sections map[string]json.RawMessage
	if json.Unmarshal(data, &sections) != nil {
		return data, nil
	}
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		if !isGuarded(section) {
			unknown = append(unknown, removeUnknown(sections, section)...)
		}
	}
	if len(unknown) == 0 {
		return data, nil
	}
	known, _ = json.Marshal(sections)
	return known, unknown
}

// removeUnknown removes the unknown settings at and below the last of some names, which lead to it, and returns their
// names. settings are those beside it.
func removeUnknown(settings map[string]json.RawMessage, path ...string) (unknown []string) {
	name := path[len(path)-1]
	if !hasField(reflect.TypeFor[Config](), path...) {
		delete(settings, name)
		return []string{strings.Join(path, ".")}
	}
	var below map[string]json.RawMessage
	if json.Unmarshal(settings[name], &below) != nil {
		return nil
	}
	for _, setting := range slices.Sorted(maps.Keys(below)) {
		unknown = append(unknown, removeUnknown(below, append(path[:len(path):len(path)], setting)...)...)
	}
	settings[name], _ = json.Marshal(below) // it was decoded from JSON
	return unknown
}

// isGuarded reports whether the settings of a section are never left out.
func isGuarded(section string) bool {
	return slices.ContainsFunc([]string{"permissions", "hub", "redaction"},
		func(name string) bool { return strings.EqualFold(name, section) })
}

// UnknownText describes an unknown setting of the file at a path, and names the most similar one.
func UnknownText(path, setting string) string {
	text := fmt.Sprintf("%s: unknown setting %q; it is ignored.", path, setting)
	if nearest, ok := hint.Nearest(setting, names("", reflect.TypeFor[Config]())); ok {
		text += fmt.Sprintf(" Did you mean %q?", nearest)
	}
	return text
}

// names returns the names of all settings of a section.
func names(section string, t reflect.Type) (all []string) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		if name := f.Tag.Get("json"); name != "-" {
			all = append(all, section+name)
			all = append(all, names(section+name+".", f.Type)...)
		}
	}
	return all
}
