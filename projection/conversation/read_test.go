package conversation_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
)

var update = flag.Bool("update", false, "rewrite the golden files, except the journals")

// read returns the messages and partial replies of events as a replay reads them.
func read(t *testing.T, events iter.Seq2[journal.Event, error]) (entries []projection.Entry) {
	t.Helper()
	for i, err := range new(conversation.Conversation).Read(projection.Brief(events)) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := i.Entry(); ok {
			entries = append(entries, e)
		}
	}
	return entries
}

// undecoded returns the events of session.
func undecoded(payloads ...projection.Payload) (raw []journal.Event) {
	for _, e := range session(payloads...) {
		raw = append(raw, e.Event)
	}
	return raw
}

func failed(turn string, by projection.Speaker, partial string) projection.TurnEnded {
	return projection.TurnEnded{TurnID: turn, MemberID: by.ID, FinishReason: projection.Failed, Partial: partial}
}

// texts returns the entries in short.
func texts(entries []projection.Entry) (lines []string) {
	for _, e := range entries {
		line := fmt.Sprintf("%d %s: %s", e.Seq, e.Speaker.DisplayName, e.Content)
		if e.Partial {
			line += " (partial)"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestReadYieldsMessagesAndPartialReplies(t *testing.T) {
	dan := projection.Speaker{ID: "dan"}
	for _, test := range []struct {
		name     string
		payloads []projection.Payload
		want     []string
	}{
		{"the reply of an ended turn, and of an open one",
			[]projection.Payload{said(mia, "Why?"), start("t1", ada), text("t1", "Because"), failed("t1", ada, "Because of"),
				said(mia, "Continue"), start("t2", bo), text("t2", "It is not "), text("t2", "plugged")},
			[]string{"2 Mia: Why?", "5 Ada: Because of (partial)", "6 Mia: Continue", "9 Bo: It is not plugged (partial)"}},
		{"turns without text only if they have steps",
			[]projection.Payload{start("t1", ada), end("t1", ada), start("t2", bo), call("t2", "u1"), end("t2", bo),
				start("t3", ada), call("t3", "u2")},
			[]string{"6 Bo:  (partial)", "8 Ada:  (partial)"}},
		{"a message once",
			[]projection.Payload{start("t1", ada), text("t1", "Because."), said(ada, "Because."), text("t1", "late")},
			[]string{"4 Ada: Because."}},
		{"the reply of a turn during which a person writes",
			[]projection.Payload{start("t1", ada), text("t1", "Because."), said(mia, "Hm?")},
			[]string{"4 Ada: Because. (partial)", "4 Mia: Hm?"}},
		{"members by the names of the team, of their messages, or their ids",
			[]projection.Payload{said(projection.Speaker{ID: "carol", DisplayName: "Carol", Type: projection.TypeAI}, "I was here"),
				failed("t1", ada, "x"), failed("t2", projection.Speaker{ID: "carol"}, "x"), failed("t3", dan, "x")},
			[]string{"2 Carol: I was here", "3 Ada: x (partial)", "4 Carol: x (partial)", "5 dan: x (partial)"}},
		{"text of the newest of the turns with one id",
			[]projection.Payload{start("t1", ada), text("t1", "old"), start("t1", ada), text("t1", "new")},
			[]string{"3 Ada: old (partial)", "5 Ada: new (partial)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := texts(read(t, each(undecoded(test.payloads...))))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadStepsKeepTheOrderOfTextAndTools(t *testing.T) {
	plan := func(entry string) projection.PlanUpdated {
		return projection.PlanUpdated{TurnID: "t1", Entries: []projection.PlanEntry{{Content: entry}}}
	}
	exit := result("t1", "u1")
	exit.Error = "exit 1"
	working := []projection.Payload{
		start("t1", ada), text("t1", "I "), text("t1", "look. "), call("t1", "u1"), plan("old"), exit,
		text("t1", "I mend. "), plan("new"), call("t1", "u2"), text("t1", "Do"),
	}
	const all = "I look. I mend. Done."
	for _, test := range []struct {
		name    string
		end     []projection.Payload
		content string
		at      []int64
	}{
		{"open", nil, "I look. I mend. Do", []int64{8, 16, 16}},
		{"with a message", []projection.Payload{said(ada, all), end("t1", ada)}, all, []int64{8, 16, 16}},
		{"with a message and no end", []projection.Payload{said(ada, all)}, all, []int64{8, 16, 16}},
		{"with a message without a marker", []projection.Payload{said(ada, "I mend.")}, "I mend.", []int64{2, 2, 2}},
		{"failed", []projection.Payload{failed("t1", ada, all)}, all, []int64{8, 16, 16}},
		{"failed with a short text", []projection.Payload{failed("t1", ada, "I look. I")}, "I look. I", []int64{8, 9, 9}},
	} {
		t.Run(test.name, func(t *testing.T) {
			entries := read(t, each(undecoded(append(working[:len(working):len(working)], test.end...)...)))
			if len(entries) != 1 || entries[0].Content != test.content {
				t.Fatalf("read %+v", entries)
			}
			want := []projection.Step{
				{Seq: 5, At: test.at[0], ToolID: "u1", Name: "Bash", Ended: true, Error: "exit 1"},
				{Seq: 9, At: test.at[1], Plan: []projection.PlanEntry{{Content: "new"}}},
				{Seq: 10, At: test.at[2], ToolID: "u2", Name: "Bash"},
			}
			if diff := cmp.Diff(want, entries[0].Steps); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The output of a tool is not read, but its error is found wherever it is written.
func TestReadFindsErrorsOfTools(t *testing.T) {
	for data, want := range map[string]string{
		`{"turnId":"t1","toolId":"u1"}`:                                                  "",
		`{"turnId":"t1","toolId":"u1","output":"\"error\":\"no\""}`:                      "",
		`{"turnId":"t1","toolId":"u1","output":"7","outputBytes":7}`:                     "",
		`{"turnId":"t1","toolId":"u1","error":"exit 1"}`:                                 "exit 1",
		`{"turnId":"t1","toolId":"u1","name":"Bash","output":"x","error":"exit 1"}`:      "exit 1",
		`{"turnId":"t1","toolId":"u1","output":"x","outputBytes":7,"error":"exit 1"}`:    "exit 1",
		`{"turnId": "t1", "toolId": "u1", "output": "x", "error": "exit 1"}`:             "exit 1",
		`{"toolId":"u1","turnId":"t1","error":"exit 1"}`:                                 "exit 1",
		`{"turnId":"t1","toolId":"u1","error":"exit 1","more":"x"}`:                      "exit 1",
		`{"turnId":"t1","toolId":"u1","output":"` + "\xff" + `","error":"\ud83d\ude00"}`: "😀",
	} {
		events := append(undecoded(start("t1", ada), call("t1", "u1")),
			journal.Event{Seq: 4, Time: began, Type: "tool.completed", Data: json.RawMessage(data)})
		entries := read(t, each(events))
		if len(entries) != 1 || len(entries[0].Steps) != 1 || !entries[0].Steps[0].Ended || entries[0].Steps[0].Error != want {
			t.Errorf("%s: %+v", data, entries)
		}
	}
}

func TestPartialRepliesHaveTimeAndLength(t *testing.T) {
	const size = 2 << 20
	cut := failed("t1", ada, "It")
	cut.PartialBytes = size
	for name, last := range map[string]projection.Payload{
		"ended": cut, "open": text("t1", strings.Repeat("x", size)),
	} {
		entries := read(t, each(undecoded(start("t1", ada), last)))
		if len(entries) != 1 || !entries[0].Partial || entries[0].ContentBytes != size ||
			entries[0].Timestamp != projection.FormatTime(began.Add(2*time.Second)) {
			t.Errorf("%s: %d entries, %d bytes at %s", name, len(entries), entries[0].ContentBytes, entries[0].Timestamp)
		}
	}
}

func TestUndecodableEventsDoNotChangeReplies(t *testing.T) {
	for eventType, data := range map[string][]string{
		"turn.text":      {`{"turnId":"t1","text":5}`, `{"text":"x","turnId":5}`},
		"tool.started":   {`{"turnId":"t1","toolId":5}`},
		"tool.completed": {`{"turnId":"t1","toolId":5}`},
		"plan.updated":   {`{"turnId":"t1","entries":5}`},
	} {
		for _, data := range data {
			events := undecoded(start("t1", ada), text("t1", "x"))
			want := read(t, each(events))
			got := read(t, each(append(events, journal.Event{
				Seq: 4, Time: began.Add(time.Hour), Type: eventType, Data: json.RawMessage(data),
			})))
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(projection.Entry{}, "Seq")); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", eventType, data, diff)
			}
		}
	}
}

func TestReadEndsWithTheErrorOrWhenTold(t *testing.T) {
	events := session(said(mia, "hello"), start("t1", ada), text("t1", "x"), start("t2", bo), text("t2", "y"))
	broken := errors.New("damaged")
	all := func(yield func(projection.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		yield(projection.Event{}, broken)
	}
	for stop := range 5 {
		n := 0
		var last error
		for _, last = range new(conversation.Conversation).Read(all) {
			if n++; n == stop {
				break
			}
		}
		if want := stop; stop == 0 {
			if n != 4 || last != broken {
				t.Errorf("%d items, the last with the error %v", n, last)
			}
		} else if n != want {
			t.Errorf("%d items instead of %d", n, want)
		}
	}
}

// The journals of projection were written by earlier versions of the program and keep their meaning.
func TestGoldenJournalsAreRead(t *testing.T) {
	const dir = "../testdata/journals"
	for _, name := range []string{"v1", "v1-2", "at-once", "bypassed"} {
		r, err := journal.NewDir(dir, journal.Options{}).Reader(name, journal.Position{})
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		enc := json.NewEncoder(&got)
		enc.SetEscapeHTML(false)
		for _, entry := range read(t, r.Scan()) {
			if err := enc.Encode(entry); err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
		path := filepath.Join(dir, name+".replay.jsonl")
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	var data bytes.Buffer
	if _, err := projectiontest.WriteSession(&data, 2000, 1); err != nil {
		b.Fatal(err)
	}
	const id = "01KAJ000000000000000000000"
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), data.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(data.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r, err := journal.NewDir(dir, journal.Options{}).Reader(id, journal.Position{})
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range new(conversation.Conversation).Read(projection.Brief(r.Scan())) {
			if err != nil {
				b.Fatal(err)
			}
		}
		r.Close()
	}
}
