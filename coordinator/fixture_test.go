package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// testTeam returns a team of two agents and two humans. The agents run on a scriptedEngine.
func testTeam() *team.Team {
	return &team.Team{
		ID: "ensemble", Name: "ensemble", DisplayName: "The Ensemble",
		Members: []team.Member{
			{
				ID: "ada", Name: "ada", DisplayName: "Ada", Type: team.AI, Role: "planner", AgentType: "x",
				Engine: "scripted",
			},
			{
				ID: "bob", Name: "bob", DisplayName: "Bob", Type: team.AI, AgentType: "y", Engine: "scripted",
				Model: "m1",
			},
			{ID: "you", Name: "you", DisplayName: "You", Type: team.Human},
			{ID: "eve", Name: "eve", DisplayName: "Eve", Type: team.Human},
		},
	}
}

// without returns the team without one of its members.
func without(t *team.Team, id string) *team.Team {
	t.Members = slices.DeleteFunc(t.Members, func(m team.Member) bool { return m.ID == id })
	return t
}

// turnFunc is what an agent does in one turn.
type turnFunc func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error]

// scriptedEngine is an engine whose turns run the functions of a script, one after another, and
// then reply "ok".
type scriptedEngine struct {
	mu     sync.Mutex
	script []turnFunc
	turns  []agent.Turn // that were run
}

func (c *scriptedEngine) Run(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turns = append(c.turns, turn)
	next := says("ok")
	if len(c.script) > 0 {
		next, c.script = c.script[0], c.script[1:]
	}
	return next(ctx, turn)
}

func (c *scriptedEngine) then(script ...turnFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.script = append(c.script, script...)
}

// members returns the IDs of the members whose turns were run, in order.
func (c *scriptedEngine) members() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, t := range c.turns {
		names = append(names, t.Member.ID)
	}
	return names
}

// prompt returns the prompt of the last turn.
func (c *scriptedEngine) prompt() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.turns) == 0 {
		return ""
	}
	return c.turns[len(c.turns)-1].Prompt
}

// yields returns a turn that yields events and then an error unless it is nil.
func yields(last error, events ...agent.Event) turnFunc {
	return func(context.Context, agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if last != nil {
				yield(nil, last)
			}
		}
	}
}

func says(text string) turnFunc { return yields(nil, agent.Text{Text: text}) }

// cancels returns a turn that streams a part of a reply and cancels itself.
func cancels(cancel context.CancelFunc, part string) turnFunc {
	return func(ctx context.Context, _ agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			if part == "" || yield(agent.Text{Text: part}, nil) {
				cancel()
				<-ctx.Done()
				yield(nil, fmt.Errorf("the turn was stopped: %w", context.Cause(ctx)))
			}
		}
	}
}

// calls returns a turn that calls a function before next.
func calls(f func(), next turnFunc) turnFunc {
	return func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			f()
			for e, err := range next(ctx, turn) {
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

// recorder records what a Listener is notified of.
type recorder struct {
	lines     []string
	appended  []journal.Event        // that are in the journal
	held      []journal.Event        // that were only in memory when they were recorded
	turn      projection.TurnStarted // the open one
	streamed  strings.Builder
	failures  []error
	notSaved  []coordinator.NotSaved
	missing   []projection.MemberRef
	onMessage func()
	answer    func(ctx context.Context, q coordinator.Question) coordinator.Decision
	reason    string     // of refusals
	answers   [][]string // to questions
	named     []string   // the events that other programs know by name
}

func (d *recorder) note(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *recorder) Event(e coordinator.Event) {
	if e.Unsaved {
		d.held = append(d.held, e.Event.Event)
	} else {
		d.appended = append(d.appended, e.Event.Event)
	}
	switch p := e.Payload.(type) {
	case projection.TurnStarted:
		d.turn = p
		d.note("turn of %s", p.MemberID)
	case projection.MessageAppended:
		d.note("said by %s: %s", p.Message.Speaker.ID, p.Message.Content)
		if d.onMessage != nil {
			d.onMessage()
		}
	case projection.TurnEnded:
		d.turn = projection.TurnStarted{}
		d.note("end of %s: %s", p.MemberID, p.FinishReason)
	}
}

func (d *recorder) Text(turnID string, m team.Member, text string) {
	if d.turn.TurnID != turnID || d.turn.MemberID != m.ID {
		d.note("text of turn %s of %s", turnID, m.ID)
	}
	d.streamed.WriteString(text)
}

func (d *recorder) Ask(ctx context.Context, q coordinator.Question) coordinator.Answer {
	if d.answer == nil {
		return coordinator.Answer{}
	}
	return coordinator.Answer{Decision: d.answer(ctx, q), Reason: d.reason, Answers: d.answers}
}

func (d *recorder) Status(s coordinator.Status) {
	line := "status " + string(s.Phase)
	if s.Unsaved {
		line += " unsaved"
	}
	d.note("%s", line)
}

func (d *recorder) Notice(n coordinator.Notice) {
	if event, ok := n.(coordinator.Named); ok {
		d.named = append(d.named, event.Name())
	}
	switch n := n.(type) {
	case coordinator.Prompt, coordinator.Saved, coordinator.TeamReady, *coordinator.TurnError:
	case coordinator.Written:
		d.appended = append(d.appended, n.Events...)
	case coordinator.SaveFailed:
		d.failures = append(d.failures, n.Err)
		d.note("save failed")
	case coordinator.NotSaved:
		d.notSaved = append(d.notSaved, n)
	case coordinator.MembersMissing:
		d.missing = n.Members
		d.note("missing %v", n.Members)
	case coordinator.Restored:
		d.note("restored %s %d", n.SessionID, n.Messages)
	default:
		d.note("notice %s", noticeLine(n))
	}
}

// noticeLine returns the type of a notice and its fields, members by their display names.
func noticeLine(n coordinator.Notice) string {
	v := reflect.ValueOf(n)
	line := v.Type().Name()
	for i := range v.NumField() {
		switch f := v.Field(i).Interface().(type) {
		case team.Member:
			line += " " + f.DisplayName
		case []team.Member:
			var names []string
			for _, m := range f {
				names = append(names, m.DisplayName)
			}
			line += fmt.Sprint(" ", names)
		case *projection.Change:
			if f != nil {
				line += fmt.Sprint(" ", *f)
			}
		default:
			line += fmt.Sprint(" ", f)
		}
	}
	return line
}

// count returns how many lines start with prefix.
func (d *recorder) count(prefix string) int {
	n := 0
	for _, line := range d.lines {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// saves returns how often control returned to a human with everything saved.
func (d *recorder) saves() int { return d.count("status paused") - d.count("status paused unsaved") }

// types returns the types of the appended events.
func (d *recorder) types() []string {
	var types []string
	for _, e := range d.appended {
		types = append(types, e.Type)
	}
	return types
}

// payloads returns the payloads of one type.
func payloads[P projection.Payload](t *testing.T, events []journal.Event) (found []P) {
	t.Helper()
	for _, e := range events {
		decoded, err := projection.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := decoded.(P); ok {
			found = append(found, p)
		}
	}
	return found
}

// fixture is a coordinator with its engine and its listener.
type fixture struct {
	*coordinator.Coordinator
	t        *testing.T
	engine   *scriptedEngine
	recorder *recorder
}

// Waiting returns the ID of the human who is next.
func (s *fixture) Waiting() string { return s.Status().Waiting }

// Queue returns the names of the queued members, the next one first.
func (s *fixture) Queue() []string {
	names := []string{}
	for _, w := range s.Queued() {
		names = append(names, w.Member.Name)
	}
	return names
}

// newFixture returns a coordinator without a team.
func newFixture(t *testing.T, store store.Store, script ...turnFunc) *fixture {
	s := &fixture{t: t, engine: &scriptedEngine{script: script}, recorder: &recorder{}}
	s.Coordinator = coordinator.New(s.options(store))
	t.Cleanup(func() { s.Stop("end of test") })
	return s
}

func (s *fixture) options(store store.Store) coordinator.Options {
	return coordinator.Options{
		Store: store, Listener: s.recorder, Engines: map[string]agent.Engine{"scripted": s.engine},
		App: projection.App{Name: "test", Version: "1"}, CWD: "/somewhere",
	}
}

// start returns a coordinator with a team and no session.
func start(t *testing.T, store store.Store, script ...turnFunc) *fixture {
	t.Helper()
	s := newFixture(t, store, script...)
	s.setTeam(testTeam(), "")
	return s
}

// resume returns a coordinator that restored a session.
func resume(t *testing.T, store store.Store, id string, script ...turnFunc) *fixture {
	t.Helper()
	s := newFixture(t, store, script...)
	s.setTeam(testTeam(), id)
	return s
}

func (s *fixture) setTeam(team *team.Team, resumeID string) {
	s.t.Helper()
	if err := s.SetTeam(context.Background(), team, coordinator.SetTeamOptions{ResumeSessionID: resumeID}); err != nil {
		s.t.Fatal("set team:", err)
	}
}

// messages returns the messages that the session has stored.
func (s *fixture) messages() []projection.Message {
	s.t.Helper()
	snapshot, err := s.Snapshot(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return snapshot.Context.Messages
}

func (s *fixture) say(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if err := s.Say(context.Background(), s.speaker(text), text); err != nil {
			s.t.Fatalf("say %.40q: %v", text, err)
		}
	}
}

// speaker returns the human who says a text: "", which is the one in its FROM marker or the next one,
// or the first human at the beginning.
func (s *fixture) speaker(text string) string {
	if first, ok := s.Team().FirstHuman(); ok && s.Waiting() == "" && !strings.Contains(text, "[FROM:") {
		return first.Name
	}
	return ""
}

func (s *fixture) stop() (id string) {
	s.t.Helper()
	id = s.Session().ID
	if err := s.Stop("end"); err != nil {
		s.t.Fatal("stop:", err)
	}
	return id
}

func (s *fixture) checkMembers(want ...string) {
	s.t.Helper()
	if got := s.engine.members(); !slices.Equal(got, want) {
		s.t.Errorf("the members were %v, want %v", got, want)
	}
}

// checkClean checks that the coordinator has a team and no other state.
func (s *fixture) checkClean(team *team.Team) {
	s.t.Helper()
	if s.Team() != team || s.Session() != nil || s.Status() != (coordinator.Status{Phase: coordinator.Idle}) ||
		len(s.Queue()) > 0 {
		s.t.Errorf("team %v, session %+v, status %+v, queue %v", s.Team(), s.Session(), s.Status(), s.Queue())
	}
}

// turnError checks that the error is a *TurnError of the member.
func turnError(t *testing.T, err error, member string, why projection.FinishReason) *coordinator.TurnError {
	t.Helper()
	var failed *coordinator.TurnError
	if !errors.As(err, &failed) {
		t.Fatalf("the error is %v, want a *TurnError", err)
	}
	if failed.Member.ID != member || failed.Reason != why {
		t.Errorf("the turn of %s ended with %s, want %s with %s", failed.Member.ID, failed.Reason, member, why)
	}
	return failed
}

// disk is a store.Files on a file system that can fail.
type disk struct {
	*store.Files
	*journaltest.FS
	t    *testing.T
	root string
}

func onDisk(t *testing.T, maxLine int) *disk {
	return diskAt(t, filepath.Join(t.TempDir(), "home", "sessions"), maxLine)
}

// diskAt returns a disk with the files of an earlier one.
func diskAt(t *testing.T, root string, maxLine int) *disk {
	d := &disk{FS: journaltest.New(vfs.OS), t: t, root: root}
	d.Files = store.NewFiles(catalog.New(d.root, journal.Options{FS: d.FS, MaxLine: maxLine}))
	return d
}

func (d *disk) dir() string { return filepath.Join(d.root, "ensemble") }

func (d *disk) path(id string) string { return filepath.Join(d.dir(), id+".jsonl") }

// events reads a journal.
func (d *disk) events(id string) []journal.Event {
	d.t.Helper()
	r, err := journal.NewDir(d.dir(), journal.Options{}).Reader(id, journal.Position{})
	if err != nil {
		d.t.Error("read:", err)
		return nil
	}
	defer r.Close()
	var events []journal.Event
	for e, err := range r.All() {
		if err != nil {
			d.t.Error("read:", err)
			break
		}
		events = append(events, e)
	}
	return events
}

// messages returns the messages of a journal as "speaker: text".
func (d *disk) messages(id string) []string {
	d.t.Helper()
	var said []string
	for _, p := range payloads[projection.MessageAppended](d.t, d.events(id)) {
		said = append(said, p.Message.Speaker.ID+": "+p.Message.Content)
	}
	return said
}

func (d *disk) checkMessages(id string, want ...string) {
	d.t.Helper()
	if got := d.messages(id); !slices.Equal(got, want) {
		d.t.Errorf("the journal has\n%q\nwant\n%q", got, want)
	}
}

// operations returns the operations on the disk that match.
func (d *disk) operations(match func(kind, rest string) bool) []string {
	var found []string
	for _, line := range strings.Split(d.FS.String(), "\n") {
		_, op, _ := strings.Cut(line, " ")
		if kind, rest, _ := strings.Cut(op, " "); match(kind, rest) {
			found = append(found, op)
		}
	}
	return found
}

// checkDurable checks that every write to a journal has been synced.
func (d *disk) checkDurable(when string) {
	d.t.Helper()
	ops := d.operations(func(kind, rest string) bool {
		return (kind == "write" || kind == "sync") && strings.Contains(rest, ".jsonl")
	})
	if len(ops) == 0 || strings.HasPrefix(ops[len(ops)-1], "write") {
		d.t.Errorf("%s: the last operation on the journal is not a sync: %q", when, ops)
	}
}

// content returns the files below the root except for lock files.
func (d *disk) content() map[string]string {
	d.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(d.root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Error(err)
	}
	return files
}

// bothStores runs a test with each implementation of Store.
func bothStores(t *testing.T, test func(t *testing.T, store store.Store)) {
	t.Run("on the disk", func(t *testing.T) { test(t, onDisk(t, 0)) })
	t.Run("in memory", func(t *testing.T) { test(t, &store.Memory{}) })
}

// writeSession adds a session to a store as a program that was killed would leave it.
func writeSession(t *testing.T, store store.Store, payloads ...projection.Payload) (id string) {
	t.Helper()
	log, err := store.Create("ensemble", "")
	if err != nil {
		t.Fatal(err)
	}
	state := &projection.State{}
	batch := []journal.Record{projection.Record(noon, projection.SessionCreated{
		Format: projection.Format, SessionID: log.SessionID(), Team: projection.Team{ID: "ensemble", Members: []projection.Member{}},
	})}
	for _, p := range payloads {
		batch = append(batch, projection.Record(noon, p))
	}
	events, err := log.Append(batch...)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		state.Apply(e)
	}
	if err := log.Close(state); err != nil {
		t.Fatal(err)
	}
	return log.SessionID()
}

func checkEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%+v\nwant\n%+v", what, got, want)
	}
}
