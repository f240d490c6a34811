package main

import (
	"fmt"
	"os"
	"strings"
)

// readList reads the fixed list. An entry is a paragraph of "key: value" lines: the file,
// the old text, which occurs once in the file, the new text, and the arguments of go test.
// A line that begins with # is a comment.
func readList(name string) (list []mutant, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(string(text), "\n\n") {
		fields := map[string]string{}
		for line := range strings.Lines(entry) {
			if key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); ok && !strings.HasPrefix(line, "#") {
				fields[key] = value
			}
		}
		if len(fields) == 0 {
			continue
		}
		content, err := os.ReadFile(fields["file"])
		if err != nil {
			return nil, err
		}
		if n := strings.Count(string(content), fields["old"]); n != 1 || fields["old"] == "" {
			return nil, fmt.Errorf("%s has %q %d times, want once: update %s", fields["file"], fields["old"], n, name)
		}
		list = append(list, mutant{
			path: fields["file"], name: fields["old"] + " -> " + fields["new"],
			content: []byte(strings.Replace(string(content), fields["old"], fields["new"], 1)),
			tests:   strings.Fields(fields["test"]),
		})
	}
	return list, nil
}

// readEquivalent reads the names of the equivalent mutants, without line numbers. Text after
// " # " is the reason.
func readEquivalent(name string) (map[string]bool, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if mutant, _, ok := strings.Cut(line, " # "); ok {
			names[strings.TrimSpace(mutant)] = true
		}
	}
	return names, nil
}

// withoutLine removes the line number from the name of a mutant, which changes often.
func withoutLine(name string) string {
	_, change, _ := strings.Cut(name, ": ")
	return change
}
