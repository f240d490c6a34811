package coordinator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

const asksForSummary = "Summarize the messages below for"

// summarizes is an agent that replies with a text, and to a request for a summary with what it got.
type summarizes struct {
	scriptedEngine
	summaries []agent.Turn
	failure   error
}

func (e *summarizes) Run(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	if !strings.HasPrefix(turn.Prompt, asksForSummary) {
		return e.scriptedEngine.Run(ctx, turn)
	}
	e.summaries = append(e.summaries, turn)
	if e.failure != nil {
		return yields(e.failure)(ctx, turn)
	}
	text := fmt.Sprintf("Summary %d: the kettle leaks. [NEXT: bob]\nIt is old.", len(e.summaries))
	return yields(nil, agent.Text{Text: text}, agent.Usage{Input: 7, Output: 3})(ctx, turn)
}

// summarized returns a coordinator whose first member has a window of 64 KiB and summarizes itself.
func summarized(t *testing.T, d store.Store, resumeID string, change ...func(*coordinator.Options, *team.Team)) (
	*fixture, *summarizes,
) {
	t.Helper()
	s, e := newFixture(t, d), new(summarizes)
	o, tm := s.options(d), windowTeam(tokens)
	o.Engines = map[string]agent.Engine{"scripted": e}
	o.HomeKey = homeKey("a home")
	tm.Summary = team.SummarySelf
	for _, change := range change {
		change(&o, tm)
	}
	s.Coordinator, s.engine = coordinator.New(o), &e.scriptedEngine
	t.Cleanup(func() { s.Stop("end of test") })
	s.setTeam(tm, resumeID)
	return s, e
}

// talk says and gets 1 KiB, so many times.
func talk(s *fixture, from, to int) {
	word := strings.Repeat("word ", 200)
	for i := from; i < to; i++ {
		s.say(fmt.Sprintf("question %d %s", i, word))
	}
}

func TestWhatLeavesTheWindowIsSummarized(t *testing.T) {
	s, e := summarized(t, files(t), "")
	talk(s, 0, 100)
	if n := len(e.summaries); n < 2 || n > 8 {
		t.Errorf("%d summaries were written", n)
	}
	prompt := s.engine.prompt()
	want := fmt.Sprintf("Summary of older messages:\n  Summary %d: the kettle leaks. [NEXT: bob]\n  It is old.\n", len(e.summaries))
	if !strings.Contains(prompt, want) || len(prompt) > 64<<10 {
		t.Errorf("the prompt of %d bytes is %.2000s", len(prompt), prompt)
	}
	if s.recorder.count("said by ada: Summary") != 0 || len(s.Queue()) > 0 {
		t.Error("the summary became a message")
	}
	second := e.summaries[1].Prompt
	if !strings.Contains(second, "Summary 1: the kettle leaks") || strings.Contains(second, "question 0 ") {
		t.Errorf("the second summary is of %.2000s", second)
	}
	written := payloads[projection.SummaryWritten](t, s.recorder.appended)
	if last := written[len(written)-1]; last.From != 2 || last.Usage.Input != 7 || last.MemberID != "ada" {
		t.Errorf("recorded %+v", last)
	}
	// A message is in the prompt or was in a summary, each once.
	var summarized strings.Builder
	for _, turn := range e.summaries {
		summarized.WriteString(turn.Prompt)
	}
	for i := range 100 {
		word := fmt.Sprintf("question %d ", i)
		if got := strings.Count(summarized.String(), word) + strings.Count(prompt, word); got != 1 {
			t.Errorf("%q is known %d times", word, got)
		}
	}
}

// A summary belongs to a history, a redactor and a model.
func TestSummaryOfOtherMessagesIsNotUsed(t *testing.T) {
	const mark = "Summary of older messages"
	root := t.TempDir()
	d := store.NewFiles(catalog.New(root, journal.Options{}))
	s, _ := summarized(t, d, "")
	talk(s, 0, 60)
	id := s.stop()
	for _, tt := range []struct {
		name   string
		change func(*coordinator.Options, *team.Team)
		shown  bool
	}{
		{"as it was", func(*coordinator.Options, *team.Team) {}, true},
		{"another window", func(o *coordinator.Options, _ *team.Team) { o.Window.Messages = 5 }, false},
		{"switched off", func(_ *coordinator.Options, t *team.Team) { t.Summary = team.SummaryOff }, false},
		{"another model", func(_ *coordinator.Options, t *team.Team) { t.Members[0].Model = "m2" }, false},
		{"another secret", func(_ *coordinator.Options, t *team.Team) {
			t.Members[1].Env = map[string]string{"API_TOKEN": "kettle-4711-leaks"}
		}, false},
		{"no more secrets", func(o *coordinator.Options, _ *team.Team) { o.KeepSecrets = true }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := summarized(t, d, id, tt.change)
			s.say("go on")
			if got := strings.Contains(s.engine.prompt(), mark); got != tt.shown {
				t.Errorf("the summary is in the prompt: %v", got)
			}
			s.stop()
		})
	}
	t.Run("a line was changed", func(t *testing.T) {
		path := filepath.Join(root, "ensemble", id+".jsonl")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(filepath.Join(root, "ensemble", id+".checkpoint.json"))
		var state projection.State
		for line := range strings.Lines(strings.Replace(string(text), "question 3 word", "question 3 Word", 1)) {
			var e journal.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			state.Apply(e)
		}
		if len(state.Summaries) != 0 {
			t.Errorf("the state has %+v", state.Summaries)
		}
	})
}

func TestSummaryOnRequest(t *testing.T) {
	s, e := summarized(t, files(t), "")
	if err := s.Summarize(context.Background(), "", ""); !errors.Is(err, coordinator.ErrNoSession) {
		t.Errorf("without a session: %v", err)
	}
	talk(s, 0, 3)
	if err := s.Summarize(context.Background(), "ada", "the kettle"); err != nil {
		t.Fatal(err)
	}
	if prompt := e.summaries[0].Prompt; !strings.Contains(prompt, "Pay attention to: the kettle") ||
		!strings.Contains(prompt, "question 2 ") {
		t.Errorf("the request is %.1000s", prompt)
	}
	s.say("next")
	if prompt := s.engine.prompt(); strings.Contains(prompt, "question 2 ") || !strings.Contains(prompt, "Summary 1") {
		t.Errorf("the prompt is %.1000s", prompt)
	}
	for _, name := range []string{"you", "zoe"} {
		if err := s.Summarize(context.Background(), name, ""); err == nil || len(e.summaries) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	e.failure = errors.New("no credit")
	if err := s.Summarize(context.Background(), "ada", ""); !errors.Is(err, e.failure) {
		t.Errorf("got %v", err)
	}
}

// A summary that fails fails no turn.
func TestFailedSummaryIsReported(t *testing.T) {
	s, e := summarized(t, files(t), "")
	e.failure = errors.New("no credit")
	talk(s, 0, 60)
	if s.recorder.count("notice AgentNotice Ada the older messages could not be summarized: no credit") != 1 {
		t.Errorf("notified of %q", s.recorder.lines[len(s.recorder.lines)-10:])
	}
}

func TestSummaryHasNoSecrets(t *testing.T) {
	s, _ := summarized(t, files(t), "", func(_ *coordinator.Options, t *team.Team) {
		t.Members[1].Env = map[string]string{"API_TOKEN": "the kettle leaks"}
	})
	talk(s, 0, 2)
	if err := s.Summarize(context.Background(), "ada", "the kettle leaks"); err != nil {
		t.Fatal(err)
	}
	for _, e := range s.recorder.appended {
		if strings.Contains(string(e.Data), "the kettle leaks") {
			t.Errorf("recorded %s", e.Data)
		}
	}
}
