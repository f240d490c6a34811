package catalog

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// full is a row in which no field has its zero value.
func full() row {
	at := time.Date(2026, 11, 21, 12, 30, 0, 123456789, time.UTC)
	return row{
		ID: "01KAHV6T3R8Q4Y2M0N7C5B0001", TeamID: "kitchen", CWD: "/home/mia", Fold: 3, Summary: `2 messages - "Tea"`,
		Row: projection.Row{
			CreatedAt: at, UpdatedAt: at.Add(time.Hour), Title: `a "title" <é>`, Renamed: true, Preview: "Tea\t", MessageCount: 2,
			LastSpeakerID: "ada", LastSpeaker: "Ada", Pinned: true, Newer: "2", Ended: "end",
		},
		Archived: true, Damaged: "line 3", Bytes: 1090, ModTime: at.Add(time.Minute), Inode: 1<<64 - 1, LastSeq: 7, Lost: 9, End: 1090, Sum: 0x12ab34cd,
	}
}

func TestARowIsReadWithoutReflectionWhateverItsFields(t *testing.T) {
	want := full()
	v := reflect.ValueOf(want)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && v.Field(i).IsZero() {
			t.Fatalf("the example has no %s", f.Name)
		}
	}
	line, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(line)) // as the index is written
	var got row
	if !got.decodePlain(plain, "") {
		t.Fatalf("it is left to encoding/json: %s", plain)
	}
	want.Summary = "" // nobody reads it
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nnot\n%+v", got, want)
	}
}

func TestAGlanceKnowsWhatEveryListHasToKnow(t *testing.T) {
	want := full()
	line, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	beginning, rest, _ := strings.Cut(string(line), `,"title"`)
	var got row
	if rest == "" || !got.glance(beginning+",\x00") {
		t.Fatalf("it does not do: %s", beginning)
	}
	want.Row = projection.Row{CreatedAt: want.CreatedAt, UpdatedAt: want.UpdatedAt}
	want.TeamID, want.CWD, want.Summary = "", "", ""
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nnot\n%+v", got, want)
	}
}

func FuzzRowIsWhatEncodingJSONReads(f *testing.F) {
	line, err := json.Marshal(full())
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		string(line), "", "{}", "null", `{"id":"a","size":007}`, `{"id":"a","size":-0}`, `{"id":"a","size":1e3}`, `{"id":"a","title":null}`,
		`{"id":"a","id":"b"}`, `{"ID":"a"}`, `{"id":"a","what":{}}`, `{"id":"\u0061"}`, `{"id":"\q"}`, `{"id":"` + "\xff" + `"}`, `{"id":"a"} `,
		`{"id":"a","summary":}`, `{"sum":"0000000G"}`, `{"inode":-1}`, `{"pinned":True}`, `{"createdAt":""}`, `{"createdAt":null,"modTime":"2026-11-21T12:00:00+25:00"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, ok := decodeRow(line)
		var want row
		err := json.Unmarshal([]byte(line), &want)
		if ok != (err == nil) {
			t.Fatalf("read: %v; encoding/json: %v", ok, err)
		}
		if !ok {
			return
		}
		got.Summary, want.Summary = "", ""
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v\nnot\n%+v", got, want)
		}
	})
}
