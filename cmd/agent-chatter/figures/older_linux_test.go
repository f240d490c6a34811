package figures

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// olderVersion returns the older program and its copy of a home, which the first
// call makes.
func (f *figures) olderVersion(t *testing.T, home string) version {
	t.Helper()
	if home == "" {
		return version{program: f.old}
	}
	if _, copied := f.copies[home]; !copied {
		f.copyHome(t, home, "-a")
	}
	return version{f.old, f.copies[home]}
}

// shareHome gives the older program the same files as those in a home, for programs that
// only read them: reading a copy takes up to half of the time, or twice as much.
func (f *figures) shareHome(t *testing.T, home string) {
	t.Helper()
	if f.old != "" {
		f.copyHome(t, home, "-al")
	}
}

// copyHome makes the older program's copy of a home: with "-a" of its own files, with
// "-al" of the same ones.
func (f *figures) copyHome(t *testing.T, home, option string) {
	t.Helper()
	f.copies[home] = f.home(t)
	if out, err := exec.Command("cp", option, home+"/.", f.copies[home]).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
}

// versions returns the program with a home, and with -old the older version.
func (f *figures) versions(t *testing.T, home string) []version {
	t.Helper()
	all := []version{{f.program, home}}
	if f.old != "" {
		all = append(all, f.olderVersion(t, home))
	}
	return all
}

// oldest returns the program whose sessions every version reads: with -old, the
// older version.
func (f *figures) oldest() string {
	if f.old != "" {
		return f.old
	}
	return f.program
}

// compareWithOld prints how long each contestant took relative to the older
// version: the median of the ratios of all rounds.
func (f *figures) compareWithOld(results []costs) {
	var rows [][]string
	for _, r := range results {
		if len(r.old) == 0 {
			continue
		}
		wall := pairedRatio(r, func(c cost) time.Duration { return c.Wall })
		cpu := pairedRatio(r, func(c cost) time.Duration { return c.CPU })
		rows = append(rows, []string{
			r.name, fmt.Sprintf("%.2f", wall), fmt.Sprintf("%.2f", cpu), fmt.Sprint(len(r.runs)),
		})
		if r.most > 0 {
			f.atMost(r.name+", relative to the older version", wall, r.most, "×")
		}
	}
	if len(rows) > 0 {
		printTable([]string{"relative to the older version", "wall ×", "CPU ×", "runs"}, rows)
	}
}

func pairedRatio(r costs, of func(cost) time.Duration) float64 {
	var ratios []float64
	for i := range r.runs {
		ratios = append(ratios, float64(of(r.runs[i]))/float64(of(r.old[i])))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// record is an event. With -old it has version 1 of its payload, which every
// version reads.
func record(at time.Time, p projection.Payload) journal.Record {
	r := projection.Record(at, p)
	if ended, ok := p.(projection.TurnEnded); ok && *oldPath != "" {
		r.Data = version1(ended)
	}
	return r
}

// version1 is the payload of a projection.TurnEnded in its first version. The
// members come in the order in which a program writes them.
func version1(ended projection.TurnEnded) json.RawMessage {
	type usage struct {
		Input  int64 `json:"inputTokens"`
		Output int64 `json:"outputTokens"`
	}
	first := struct {
		TurnID       string                  `json:"turnId"`
		MemberID     string                  `json:"memberId"`
		FinishReason projection.FinishReason `json:"finishReason"`
		DurationMS   int64                   `json:"durationMs"`
		Usage        *usage                  `json:"usage,omitempty"`
		AgentSession string                  `json:"agentSession,omitempty"`
	}{
		TurnID: ended.TurnID, MemberID: ended.MemberID, FinishReason: ended.FinishReason,
		DurationMS: ended.DurationMS, AgentSession: ended.AgentSession,
	}
	if ended.Usage != nil {
		first.Usage = &usage{ended.Usage.Input, ended.Usage.Output}
	}
	data, err := json.Marshal(first)
	if err != nil {
		panic(err) // it has plain fields only
	}
	return data
}

// rewriteInVersion1 rewrites a journal without sync marks with the events that
// record returns.
func rewriteInVersion1(t *testing.T, path string) {
	t.Helper()
	events, err := journal.NewDir(filepath.Dir(path), journal.Options{}).Reader(idOf(path), journal.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	file, err := os.Create(path + ".rewritten")
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(file)
	var at journal.Position
	for e, err := range events.All() {
		if err != nil {
			t.Fatal(err)
		}
		payload, err := projection.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		var next journal.Event
		if next, at, err = at.Next(record(e.Time, payload)); err != nil {
			t.Fatal(err)
		}
		out.Write(append(next.Line(), '\n')) // Flush returns its error
	}
	if err := errors.Join(out.Flush(), file.Close(), os.Rename(file.Name(), path)); err != nil {
		t.Fatal(err)
	}
}
