package catalog

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
	"github.com/agent-chatter/agent-chatter/projection"
)

// full is a row in which no field has its zero value.
func full() row {
	at := time.Date(2026, 11, 21, 12, 30, 0, 123456789, time.UTC)
	return row{
		ID:      "01KAHV6T3R8Q4Y2M0N7C5B0001",
		TeamID:  "kitchen",
		CWD:     "/home/mia",
		Fold:    3,
		Version: rowVersion,
		Summary: `2 messages - "Tea"`,
		Source:  &projection.Source{Path: "/home/mia/team.json", SHA256: "00ff"},
		Row: projection.Row{
			CreatedAt:     at,
			UpdatedAt:     at.Add(time.Hour),
			Title:         `a "title" <é>`,
			Renamed:       true,
			Preview:       "Tea\t",
			MessageCount:  2,
			LastSpeakerID: "ada",
			LastSpeaker:   "Ada",
			Pinned:        true,
			Newer:         "2",
			Ended:         "end",
		},
		Archived: true,
		Damaged:  "line 3",
		Bytes:    1090,
		ModTime:  at.Add(time.Minute),
		Inode:    1<<64 - 1,
		LastSeq:  7,
		Lost:     9,
		End:      1090,
		Sum:      0x12ab34cd,
		Spent: Spent{Usage: []projection.Tally{{
			Quarter: 1995440, Member: "ada", Agent: "claude", Model: "opus", Costed: true, Turns: 2, Unknown: 1,
			Totals: projection.Totals{
				Input: 1, CachedRead: 2, CachedWrite: 3, Output: 4, Thought: 5, Costs: map[string]float64{"USD": 0.25},
			},
		}},
			Copied: true,
			Open:   []OpenTurn{{TurnID: "t1", MemberID: "ada", Agent: "claude", Model: "opus", Copied: true}},
		},
	}
}

func TestRowIsDecodedWithoutReflection(t *testing.T) {
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
	if !layout.Decode([]byte(plain), &got) {
		t.Fatalf("decoded by encoding/json: %s", plain)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nnot\n%+v", got, want)
	}
}

// written returns the line of a row in the index.
func written(t testing.TB, r row) string {
	t.Helper()
	var line bytes.Buffer
	l := Entry{row: &r}
	if err := l.appendLine(&line, new(openedRows)); err != nil {
		t.Fatal(err)
	}
	return line.String()
}

func TestGlanceOfCurrentRow(t *testing.T) {
	r := full()
	r.Fold, r.Damaged, r.Lost = projection.FoldVersion, "", 0
	for _, archived := range []bool{true, false} {
		r.Archived = archived
		info := journal.Info{ID: r.ID, Archived: archived, Size: r.Bytes, ModTime: r.ModTime.Local(), Inode: r.Inode}
		updated, ok := glance(info, []byte(written(t, r)))
		if !ok || !updated.Equal(r.UpdatedAt) {
			t.Errorf("got %v, %v: %s", updated, ok, written(t, r))
		}
	}
}

func TestGlanceRejects(t *testing.T) {
	valid := full()
	valid.Fold, valid.Damaged, valid.Lost = projection.FoldVersion, "", 0
	info := journal.Info{ID: valid.ID, Archived: true, Size: valid.Bytes, ModTime: valid.ModTime, Inode: valid.Inode}
	for wrong, change := range map[string]func(*row){
		"another session": func(r *row) { r.ID = strings.Replace(r.ID, "B", "C", 1) },
		"another fold":    func(r *row) { r.Fold++ },
		"another version": func(r *row) { r.Version-- },
		"not archived":    func(r *row) { r.Archived = false },
		"another size":    func(r *row) { r.Bytes = r.Bytes*10 + 1 },
		"another time":    func(r *row) { r.ModTime = r.ModTime.Add(1) },
		"another inode":   func(r *row) { r.Inode-- },
		"no event":        func(r *row) { r.LastSeq = 0 },
		"damage":          func(r *row) { r.Damaged = "line 3" },
		"lost events":     func(r *row) { r.Lost = 9 },
	} {
		t.Run(wrong, func(t *testing.T) {
			r := valid
			change(&r)
			if _, ok := glance(info, []byte(written(t, r))); ok {
				t.Error(written(t, r))
			}
		})
	}
}

func FuzzGlanceEqualsRow(f *testing.F) {
	r := full()
	r.Fold, r.Damaged, r.Lost = projection.FoldVersion, "", 0
	info := journal.Info{ID: r.ID, Archived: true, Size: r.Bytes, ModTime: r.ModTime, Inode: r.Inode}
	begins := string(appendHead(nil, info))
	rest, ok := strings.CutPrefix(written(f, r), begins)
	if !ok {
		f.Fatal(written(f, r))
	}
	for _, seed := range []string{rest, strings.ReplaceAll(rest, `"title":"`, `"title":",\"updatedAt\":\"`), "",
		`,"end":`, `7,"end":1}`, `07,"end":1,"updatedAt":"2026-11-21T12:00:00Z"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		updated, ok := glance(info, []byte(begins+rest))
		r, valid := decodeRow(begins + rest)
		if ok && valid && strings.Count(rest, `"updatedAt"`) == 1 && !updated.Equal(r.UpdatedAt) {
			t.Errorf("glance returns %v, the row has %v", updated, r.UpdatedAt)
		}
	})
}

func FuzzRowEqualsEncodingJSON(f *testing.F) {
	line, err := json.Marshal(full())
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		string(line), "", "{}", "null", `{"id":"a","size":007}`, `{"id":"a","size":-0}`, `{"id":"a","size":1e3}`,
		`{"id":"a","title":null}`,
		`{"id":"a","id":"b"}`, `{"ID":"a"}`, `{"id":"a","what":{}}`, `{"id":"\u0061"}`, `{"id":"\q"}`, `{"id":"` +
			"\xff" + `"}`, `{"id":"a"} `,
		`{"id":"a","summary":}`, `{"sum":"0000000G"}`, `{"inode":-1}`, `{"pinned":True}`, `{"createdAt":""}`,
		`{"createdAt":null,"modTime":"2026-11-21T12:00:00+25:00"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, ok := decodeRow(line)
		var want row
		err := json.Unmarshal([]byte(line), &want)
		if ok != (err == nil) {
			t.Fatalf("decoded: %v; encoding/json: %v", ok, err)
		}
		if !ok {
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v\nnot\n%+v", got, want)
		}
	})
}
