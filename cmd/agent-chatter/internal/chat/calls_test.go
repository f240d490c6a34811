package chat

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestRecordedCallsAreThoseOfTheJournal(t *testing.T) {
	dir := t.TempDir()
	log, err := journal.NewDir(dir, journal.Options{}).Create(apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	records := []journal.Record{projection.Record(at, projection.SessionCreated{
		Format: projection.Format, SessionID: apptest.AliceID, Team: projection.Team{ID: "review", Name: "review"},
	})}
	const turns = 40
	for i := range turns {
		turn := fmt.Sprint("t", i)
		records = append(records, projection.Record(at, projection.TurnStarted{TurnID: turn, MemberID: "ada"}),
			projection.Record(at, projection.ToolStarted{TurnID: turn, ToolID: "a", Name: "Read", Input: json.RawMessage(`{"path":"a"}`)}),
			projection.Record(at, projection.ToolStarted{TurnID: turn, ToolID: "b", Name: "Bash"}),
			projection.Record(at, projection.ToolCompleted{TurnID: turn, ToolID: "a", Name: "Read", Output: fmt.Sprintf("%5000d", i)}),
			projection.Record(at, projection.TurnEnded{TurnID: turn, MemberID: "ada", FinishReason: projection.Done}))
	}
	if _, err := log.Append(records...); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	r := &repl{app: &app.App{Catalog: catalog.New(t.TempDir(), journal.Options{})}}
	read := func(before uint64) (seqs []uint64, batches int) {
		for calls, err := range r.recordedCalls(t.Context(), before) {
			if err != nil {
				t.Fatal(err)
			}
			batches++
			var batch []uint64
			for _, c := range calls {
				if c.Started.Name != "Read" || len(c.Result.Output) != 5000 {
					t.Errorf("%s with %d bytes of output", c.Started.Name, len(c.Result.Output))
				}
				batch = append(batch, c.Seq)
			}
			seqs = append(batch, seqs...)
		}
		return seqs, batches
	}
	if seqs, _ := read(0); seqs != nil {
		t.Errorf("without a session there are %v", seqs)
	}
	for _, key := range []catalog.Key{{Dir: dir, ID: apptest.BobID}, {Dir: dir + "/missing", ID: apptest.AliceID}, {}} {
		if r.own.Store(&key); len(first(read(0))) > 0 {
			t.Errorf("%+v has calls", key)
		}
	}
	r.own.Store(&catalog.Key{Dir: dir, ID: apptest.AliceID})
	seqs, batches := read(0)
	if len(seqs) != turns || seqs[0] != 3 || seqs[turns-1] != 5*turns-2 || batches < 2 {
		t.Errorf("%v in %d batches", seqs, batches)
	}
	if seqs, _ := read(seqs[2]); fmt.Sprint(seqs) != "[3 8]" {
		t.Errorf("before the third there are %v", seqs)
	}
}

func first[A, B any](a A, _ B) A { return a }
