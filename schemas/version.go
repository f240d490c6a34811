package schemas

import (
	"cmp"
	"strings"
)

// versions is the range of schemaVersion values that are read. The newest is written.
type versions struct {
	oldest, newest string
	minors         bool // later minor versions are read, too
}

// check returns a VersionError for a document that is not read. newerMinor reports whether it is read although it is
// newer. A missing or malformed version passes: the schema reports it.
func (v versions) check(schema string, document any) (newerMinor bool, err error) {
	fields, _ := document.(map[string]any)
	version, _ := fields["schemaVersion"].(string)
	major, minor, _ := strings.Cut(version, ".")
	if v == (versions{}) || !isNumber(major) || !isNumber(minor) {
		return false, nil
	}
	newer := compareVersions(version, v.newest) > 0
	if !newer && compareVersions(version, v.oldest) >= 0 {
		return false, nil
	}
	known, _, _ := strings.Cut(v.newest, ".")
	if newer && v.minors && compareNumbers(major, known) == 0 {
		return true, nil
	}
	return false, &VersionError{Schema: schema, Version: version, Newer: newer, Supported: v.newest}
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// compareVersions compares two versions by their numbers: 1.2 is older than 1.10.
func compareVersions(a, b string) int {
	aMajor, aMinor, _ := strings.Cut(a, ".")
	bMajor, bMinor, _ := strings.Cut(b, ".")
	return cmp.Or(compareNumbers(aMajor, bMajor), compareNumbers(aMinor, bMinor))
}

// compareNumbers compares two decimal numbers of any length.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
