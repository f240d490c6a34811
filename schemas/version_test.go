package schemas

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"testing"
)

func TestVersionsCompareAsNumbers(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"1.2", "1.2", 0},
		{"1.10", "1.2", 1},
		{"1.2", "1.10", -1},
		{"2.0", "1.10", 1},
		{"10.0", "9.9", 1},
		{"01.02", "1.2", 0},
		{"0.9", "1.1", -1},
		{"1.99999999999999999999999999", "1.2", 1},
		{"99999999999999999999999999.0", "1.2", 1},
	}
	for _, test := range tests {
		if got := compareVersions(test.a, test.b); got != test.want {
			t.Errorf("%s and %s: %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestVersionIsCheckedBeforeTheSchema(t *testing.T) {
	tests := []struct{ name, version, want string }{
		{CLIConfig, "2.0", "Schema version 2.0 is not supported. Please upgrade agent-chatter."},
		{CLIConfig, "10.1", "Schema version 10.1 is not supported. Please upgrade agent-chatter."},
		{CLIConfig, "1.0", "Schema version 1.0 is deprecated. Please migrate to version 1.3."},
		{AgentRegistry, "1.2", "Schema version 1.2 is not supported. Please upgrade agent-chatter."},
		{AgentRegistry, "1.0", "Schema version 1.0 is deprecated. Please migrate to version 1.1."},
		{SessionSnapshot, "1.1", "Schema version 1.1 is not supported. Please upgrade agent-chatter."},
		{SessionSnapshot, "0.10", "Schema version 0.10 is deprecated. Please migrate to version 1.0."},
	}
	for _, test := range tests {
		err := Check(test.name, fmt.Appendf(nil, `{"schemaVersion": %q, "nonsense": true}`, test.version))
		var version *VersionError
		if !errors.As(err, &version) || err.Error() != test.want {
			t.Errorf("%s %s: %v", test.name, test.version, err)
			continue
		}
		if version.Schema != test.name || version.Version != test.version {
			t.Errorf("%s %s: %+v", test.name, test.version, version)
		}
	}
}

func TestSchemaReportsMalformedVersions(t *testing.T) {
	for _, value := range []string{
		`"abc"`, `"1"`, `"1."`, `".1"`, `"1.1.1"`, `"v1.3"`, `"1.-3"`, `"9.9 "`, `"1.٣"`, `9.9`, `null`,
		`{}`, `"01.2"`,
	} {
		document := fmt.Appendf(nil, `{"schemaVersion": %s}`, value)
		if got := problems(t, CLIConfig, document); len(got) != 2 || got[1].Path != "/schemaVersion" {
			t.Errorf("%s: %v", value, got)
		}
	}
}

func TestDocumentsWithoutVersionsNeedNone(t *testing.T) {
	for _, name := range []string{TeamConfig, JournalEvent, SessionIndex, Checkpoint, BundleLine} {
		for _, p := range problems(t, name, []byte(`{"schemaVersion": "9.9"}`)) {
			if p.Message == `unknown property "schemaVersion"` {
				name = ""
			}
		}
		if name != "" {
			t.Errorf("%s: schemaVersion is no field of it", name)
		}
	}
}

func TestNewerMinorVersionsOfTeamFilesAreRead(t *testing.T) {
	document := func(version, root string) []byte {
		return bytes.Replace(pairWith(root, `, "agentType": "demo"`), []byte(`"1.2"`), []byte(version), 1)
	}
	for _, version := range []string{`"1.3"`, `"1.10"`} {
		if err := Check(CLIConfig, document(version, "")); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
	for version, newer := range map[string]bool{`"1.1"`: false, `"1.2"`: false, `"1.3"`: false, `"1.4"`: true} {
		err := Check(CLIConfig, document(version, `, "memory": {}, "maxRounds": -1`))
		want := &InvalidError{Schema: CLIConfig, Newer: newer, Problems: []Problem{
			{Path: "/", Message: `unknown property "memory"`, Unknown: "memory"},
			{Path: "/maxRounds", Message: "must be at least 0, not -1"},
		}}
		if !reflect.DeepEqual(err, want) {
			t.Errorf("%s: %#v", version, err)
		}
	}
}
