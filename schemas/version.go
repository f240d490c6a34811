package schemas

import (
	"cmp"
	"strings"
)

// versions is the range of schemaVersion values that are read. The newest is written.
type versions struct{ oldest, newest string }

// check returns a VersionError for a document outside the range. A missing or malformed
// version passes: the schema reports it.
func (v versions) check(schema string, document any) error {
	fields, _ := document.(map[string]any)
	version, _ := fields["schemaVersion"].(string)
	major, minor, _ := strings.Cut(version, ".")
	if v == (versions{}) || !isNumber(major) || !isNumber(minor) {
		return nil
	}
	newer := compareVersions(version, v.newest) > 0
	if !newer && compareVersions(version, v.oldest) >= 0 {
		return nil
	}
	return &VersionError{Schema: schema, Version: version, Newer: newer, Supported: v.newest}
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
