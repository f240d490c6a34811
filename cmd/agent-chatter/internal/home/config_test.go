package home

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

func TestMaxLineHasBounds(t *testing.T) {
	for maxLine, ok := range map[int]bool{
		-1: false, 0: true, 1: false, minLineLimit - 1: false, minLineLimit: true, MaxLineLimit: true, MaxLineLimit + 1: false,
	} {
		if err := (Config{Journal: limits{MaxLine: maxLine}}).check(); (err == nil) != ok {
			t.Errorf("%d: %v", maxLine, err)
		}
	}
}

func TestSettingsHaveRanges(t *testing.T) {
	for content, ok := range map[string]bool{
		`{}`: true, `{"retention":{"keep":0}}`: true, `{"retention":{"keep":-1}}`: false,
		`{"window":{"messages":0}}`: true, `{"window":{"messages":-1}}`: false,
		`{"window":{"bytes":0}}`: true, `{"window":{"bytes":-1}}`: false,
		`{"files":{"capture":"off","maxFiles":5,"maxBytes":6,"maxFileBytes":7,"maxStored":8}}`: true,
		`{"files":{"capture":"no"}}`: false, `{"files":{"maxFiles":-1}}`: false, `{"files":{"maxBytes":-1}}`: false, `{"files":{"maxStored":-1}}`: false,
		`{"files":{"maxFileBytes":-1}}`: false, `{"files":{"maxFileBytes":1073741825}}`: false,
		`{"redaction":""}`: true, `{"redaction":"on"}`: true, `{"redaction":"off"}`: true, `{"redaction":"none"}`: false,
	} {
		c, err := decode([]byte(content))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.check(); (err == nil) != ok {
			t.Errorf("%s: %v", content, err)
		}
	}
}

func TestDays(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"30d": 30 * day, "1d": day, "0d": 0, "0.5d": day / 2, "99999d": 99999 * day, "12h": 12 * time.Hour, "0s": 0,
		"100000d": -1, "-1d": -1, "d": -1, "": -1, "30": -1, "-1h": -1, "NaNd": -1, // -1: an error
	} {
		var d Days
		if err := d.UnmarshalText([]byte(text)); (err != nil) != (want < 0) || want >= 0 && time.Duration(d) != want {
			t.Errorf("%q: got %v, %v", text, time.Duration(d), err)
		}
	}
}

func TestEnvironmentOverridesRetention(t *testing.T) {
	keep, auto, week := 5, true, Days(7*24*time.Hour)
	c := Config{Retention: Retention{Keep: &keep, Auto: &auto, ArchiveAfter: &week, DeleteAfter: &week}}
	for _, name := range []string{"AUTO", "KEEP", "ARCHIVE_AFTER", "DELETE_AFTER"} {
		t.Setenv("AGENT_CHATTER_RETENTION_"+name, "")
	}
	if got, err := c.WithEnvironment(); err != nil || got.Policy() != c.Policy() || !got.Auto() {
		t.Errorf("without variables: %+v, %v", got.Policy(), err)
	}
	for name, value := range map[string]string{"AUTO": "false", "KEEP": "0", "ARCHIVE_AFTER": "1d", "DELETE_AFTER": "2h"} {
		t.Setenv("AGENT_CHATTER_RETENTION_"+name, value)
	}
	got, err := c.WithEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	if p := got.Policy(); got.Auto() || p.Keep != 0 || p.ArchiveAfter != 24*time.Hour || p.DeleteAfter != 2*time.Hour {
		t.Errorf("the policy is %+v, auto: %v", p, got.Auto())
	}
	for name, value := range map[string]string{"AUTO": "maybe", "KEEP": "-1", "ARCHIVE_AFTER": "soon", "DELETE_AFTER": "-2h"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AGENT_CHATTER_RETENTION_"+name, value)
			if _, err := c.WithEnvironment(); err == nil || !strings.HasPrefix(err.Error(), "AGENT_CHATTER_RETENTION_"+name+": ") {
				t.Errorf("%s: %v", value, err)
			}
		})
	}
}

func TestErrorNamesTheSetting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	for content, want := range map[string]string{
		`[]`:                        "the file must be an object, not an array",
		`5`:                         "the file must be an object, not a number",
		`"x"`:                       "the file must be an object, not a string",
		`{} {}`:                     "the file has more than one JSON object",
		`{"window":5,"window":{}}`:  "window must be an object, not a number",
		`{"window":{"bytes":true}}`: "window.bytes must be a whole number, not true or false",
		`{"retention":{"auto":[]}}`: "retention.auto must be true or false, not an array",
		`{"redaction":{}}`:          "redaction must be a string, not an object",
		`{"permissions":"edit"}`:    `unknown setting "permissions"`,
		`{"hub":{"url":"x"}}`:       `unknown setting "hub.url"`,
		`{"keep":5,"hub":{"tls":{"x":1}}}`: "\n  - hub.tls: json: unknown field \"x\"" +
			"\n  - unknown setting \"keep\"",
		`{"retention":{"keep":99999999999999999999}}`: "retention.keep is out of range: 99999999999999999999",
		`{"window":{"bytes":-9223372036854775809}}`:   "window.bytes is out of range: -9223372036854775809",
		`{"prices":{"m":{"input":1,"cached":1,"currency":"USD"}}}`: "prices.m.output must be an amount for a million " +
			"tokens, from 0 to 1000000",
		`{"prices":{"m":{"input":-1,"cached":1,"output":1,"currency":"USD"}}}`: "prices.m.input must be an amount for a " +
			"million tokens, from 0 to 1000000",
		`{"prices":{"m":{"input":0,"cached":0,"output":0,"currency":"$"}}}`: "prices.m.currency must be the code of a " +
			"currency, such as \"USD\"",
		`{"prices":{"m":{"input":"1"}}}`:       "prices.m.input must be a number, not a string",
		`{"prices":{"m":5}}`:                   "prices.m must be an object, not a number",
		`{"budget":{"session":{"turns":1.5}}}`: "budget.session.turns must be a whole number, not 1.5",
		`{"retention":{"keep":1.5}}`:           "retention.keep must be a whole number, not 1.5",
		`{"retention":{"keep":-1}}`:            "retention.keep must be a number of sessions, 0 or more",
		`{"status":["team","clock"]}`: "status must be a list of some of " +
			"[team messages model context tokens cost saved directory]",
		`{"theme":"sepia"}`:   "theme must be one of [dark light high-contrast monochrome]",
		`{"notify":["mail"]}`: "notify must be a list of some of [title bell terminal desktop]",
		`{"keys":{"t":"output"}}`: "keys must be names of keys and actions: the key \"t\" types a character; " +
			"add ctrl or alt",
		`{"hub":{"urls":"nats://a"}}`: `hub.urls must be a list of strings, such as ["…"], not a string`,
		`{"hub":{"teams":[1]}}`:       "hub.teams must be a string, not a number",
		`{"redaction":{"x":1}}`:       `unknown setting "redaction.x"`,
		`{"redaction":{},"window":5,"abc":1}`: "\n  - redaction must be a string, not an object" +
			"\n  - unknown setting \"abc\"\n  - window must be an object, not a number",
		`{"window":{"alpha":1,"bytes":true},"retention":{"keep":-1}}`: "\n" +
			"  - retention.keep must be a number of sessions, 0 or more\n" +
			"  - unknown setting \"window.alpha\"\n  - window.bytes must be a whole number, not true or false",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(want, "\n") {
			want = " " + want
		}
		if _, err := ReadConfig(path); err == nil || err.Error() != path+":"+want {
			t.Errorf("%s: got %v, want %s", content, err, want)
		}
	}
}

func TestUnknownSettingsAreLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	content := `{"retention":{"kepe":10,"keep":3},"Window":{"Bytes":7,"more":{}},"zoom": "dark","journal":{"new":1},"-":2}`
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	keep := 3
	want := Config{
		Retention: Retention{Keep: &keep}, Window: window{Bytes: 7},
		Unknown: []string{"-", "Window.more", "journal.new", "retention.kepe", "zoom"},
	}
	if c, err := ReadConfig(path); err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, %v; want %+v", c, err, want)
	}
	for setting, nearest := range map[string]string{
		"retention.kepe": "retention.keep", "windows": "window", "hubs": "hub", "zoom": "", "window.mesages": "window.messages",
	} {
		want := "/a: unknown setting \"" + setting + "\"; it is ignored."
		if nearest != "" {
			want += " Did you mean \"" + nearest + "\"?"
		}
		if got := UnknownText("/a", setting); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestMissingFileIsAnEmptyConfiguration(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "config.json"), filepath.Join(file, "config.json")} {
		if c, err := ReadConfig(path); err != nil || !reflect.DeepEqual(c, Config{}) {
			t.Errorf("%s: %+v, %v", path, c, err)
		}
	}
	if _, err := ReadConfig(dir); !errors.As(err, new(*regularfile.KindError)) {
		t.Errorf("a directory: %v", err)
	}
}

func TestRedactionOffKeepsSecrets(t *testing.T) {
	for mode, want := range map[toggle]bool{"": false, "on": false, "off": true} {
		if got := (Config{Redaction: mode}).KeepSecrets(); got != want {
			t.Errorf("%q: %v", mode, got)
		}
	}
}

// Whatever config.json holds: it is refused, or asks for nothing that cannot be.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "\x00\x00\x00\x00", "\xef\xbb\xbf{}", " \n{}\n\t ", "{}", "{}x", "{} {}", "[]", "null",
		`{"retention":{"auto":true,"keep":10,"archiveAfter":"30d","deleteAfter":"365d"},` +
			`"window":{"messages":20,"bytes":262144},"journal":{"maxLine":67108864}}`,
		`{"retention":{"auto":null,"keep":null,"archiveAfter":null},"window":null,"journal":null}`,
		`{"retention":{"ke`, `{"retention":{"kepe":1}}`, `{"Retention":{"KEEP":1}}`,
		`{"retention":{"keep":1,"keep":-1}}`,
		`{"retention":{"keep":-1}}`, `{"retention":{"keep":1.5}}`, `{"retention":{"keep":99999999999999999999}}`,
		`{"retention":{"archiveAfter":"36h"}}`, `{"retention":{"archiveAfter":"0.5d"}}`,
		`{"retention":{"archiveAfter":"-1d"}}`,
		`{"retention":{"archiveAfter":"30"}}`, `{"retention":{"deleteAfter":30}}`, `{"retention":{"deleteAfter":"d"}}`,
		// the longest duration and one more
		`{"retention":{"deleteAfter":"99999d"}}`, `{"retention":{"deleteAfter":"100000d"}}`,
		`{"retention":{"archiveAfter":"NaNd"}}`, `{"retention":{"archiveAfter":"Infd"}}`,
		`{"retention":{"deleteAfter":"0x10p4d"}}`,
		`{"window":{"messages":-1}}`, `{"window":{"bytes":9223372036854775808}}`,
		`{"journal":{"maxLine":"64M"}}`, `{"journal":{"maxLine":-1}}`, `{"journal":{"maxLine":0}}`,
		`{"journal":{"maxLine":65535}}`, `{"journal":{"maxLine":65536}}`, // journal.MinMaxLine
		`{"journal":{"maxLine":1073741824}}`, `{"journal":{"maxLine":1073741825}}`, // the largest limit and one more
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := decode(content)
		if err != nil || c.check() != nil {
			return
		}
		if !json.Valid(content) {
			t.Fatal("it is not JSON")
		}
		if p := c.Policy(); p.Keep < 0 || p.ArchiveAfter < 0 || p.DeleteAfter < 0 {
			t.Errorf("the policy is %+v", p)
		}
		if c.Window.Messages < 0 || c.Window.Bytes < 0 {
			t.Errorf("the window is %+v", c.Window)
		}
		if line := c.Journal.MaxLine; line != 0 && line < journal.MinMaxLine {
			t.Errorf("the limit of a line is %d", line)
		}
	})
}
