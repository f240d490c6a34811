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
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// ensemble is two agents and two humans. The agents are played by a cast.
func ensemble() *team.Team {
	return &team.Team{
		ID: "ensemble", Name: "ensemble", DisplayName: "The Ensemble",
		Members: []team.Member{
			{
				ID: "ada", Name: "ada", DisplayName: "Ada", Type: team.AI, Role: "planner", AgentType: "x",
				Engine: "cast",
			},
			{ID: "bob", Name: "bob", DisplayName: "Bob", Type: team.AI, AgentType: "y", Engine: "cast", Model: "m1"},
			{ID: "you", Name: "you", DisplayName: "You", Type: team.Human},
			{ID: "eve", Name: "eve", DisplayName: "Eve", Type: team.Human},
		},
	}
}

// without is the team without one of its members.
func without(t *team.Team, id string) *team.Team {
	t.Members = slices.DeleteFunc(t.Members, func(m team.Member) bool { return m.ID == id })
	return t
}

// play is what an agent does in one turn.
type play func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error]

// cast is an engine whose turns are the plays that a test gave it, one after
// another. When they run out, the agents say "ok".
type cast struct {
	mu    sync.Mutex
	plays []play
	turns []agent.Turn // what was asked
}

func (c *cast) Run(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turns = append(c.turns, turn)
	next := says("ok")
	if len(c.plays) > 0 {
		next, c.plays = c.plays[0], c.plays[1:]
	}
	return next(ctx, turn)
}

func (c *cast) then(plays ...play) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plays = append(c.plays, plays...)
}

// asked names the members that were asked, in order.
func (c *cast) asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, t := range c.turns {
		names = append(names, t.Member.ID)
	}
	return names
}

// prompt is what the agent was told in the last turn.
func (c *cast) prompt() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.turns) == 0 {
		return ""
	}
	return c.turns[len(c.turns)-1].Prompt
}

// does yields events, and ends with an error unless that is nil.
func does(last error, events ...agent.Event) play {
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

func says(text string) play { return does(nil, agent.Text{Text: text}) }

// isCancelled says a part, cancels its own turn, and ends as engines do then.
func isCancelled(cancel context.CancelFunc, part string) play {
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

// looks calls a function when the turn starts, and then plays.
func looks(look func(), next play) play {
	return func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			look()
			for e, err := range next(ctx, turn) {
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

// diary records what a Listener is notified of.
type diary struct {
	lines     []string
	appended  []journal.Event // that are in the journal
	failures  []error
	missing   []projection.MemberRef
	onMessage func()
	answer    func(ctx context.Context, q coordinator.Question) coordinator.Answer
}

func (d *diary) note(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) Event(e coordinator.Event) {
	if !e.Unsaved {
		d.appended = append(d.appended, e.Event)
	}
	switch p := e.Payload.(type) {
	case projection.TurnStarted:
		d.note("turn of %s", p.MemberID)
	case projection.MessageAppended:
		d.note("said by %s: %s", p.Message.Speaker.ID, p.Message.Content)
		if d.onMessage != nil {
			d.onMessage()
		}
	case projection.TurnEnded:
		d.note("end of %s: %s", p.MemberID, p.FinishReason)
	}
}

func (d *diary) Text(team.Member, string) {}

func (d *diary) Ask(ctx context.Context, q coordinator.Question) coordinator.Answer {
	if d.answer == nil {
		return coordinator.Unanswered
	}
	return d.answer(ctx, q)
}

func (d *diary) Status(s coordinator.Status) {
	line := "status " + string(s.Phase)
	if s.Unsaved {
		line += " unsaved"
	}
	d.note("%s", line)
}

func (d *diary) Notice(n coordinator.Notice) {
	switch n := n.(type) {
	case coordinator.Prompt, *coordinator.TurnError:
	case coordinator.Written:
		d.appended = append(d.appended, n.Events...)
	case coordinator.SaveFailed:
		d.failures = append(d.failures, n.Err)
		d.note("save failed")
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
func (d *diary) count(prefix string) int {
	n := 0
	for _, line := range d.lines {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// saves returns how often control returned to a human with everything saved.
func (d *diary) saves() int { return d.count("status paused") - d.count("status paused unsaved") }

// types are the types of the events that were appended.
func (d *diary) types() []string {
	var types []string
	for _, e := range d.appended {
		types = append(types, e.Type)
	}
	return types
}

// payloads are the payloads of one type among the appended events.
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

// scene is a coordinator with everything that it works with.
type scene struct {
	*coordinator.Coordinator
	t     *testing.T
	cast  *cast
	diary *diary
}

// Waiting returns the ID of the human who is next.
func (s *scene) Waiting() string { return s.Status().Waiting }

// Queue returns the names of the queued members, the next one first.
func (s *scene) Queue() []string {
	names := []string{}
	for _, w := range s.Queued() {
		names = append(names, w.Member.Name)
	}
	return names
}

// stage makes a coordinator without a team.
func stage(t *testing.T, store store.Store, plays ...play) *scene {
	s := &scene{t: t, cast: &cast{plays: plays}, diary: &diary{}}
	s.Coordinator = coordinator.New(s.options(store))
	t.Cleanup(func() { s.Stop("the test is over") })
	return s
}

func (s *scene) options(store store.Store) coordinator.Options {
	return coordinator.Options{
		Store: store, Listener: s.diary, Engines: map[string]agent.Engine{"cast": s.cast},
		App: projection.App{Name: "test", Version: "1"}, CWD: "/somewhere",
	}
}

// start makes a coordinator with a team and no session.
func start(t *testing.T, store store.Store, plays ...play) *scene {
	t.Helper()
	s := stage(t, store, plays...)
	s.with(ensemble(), "")
	return s
}

// resume makes a coordinator that goes on with a session.
func resume(t *testing.T, store store.Store, id string, plays ...play) *scene {
	t.Helper()
	s := stage(t, store, plays...)
	s.with(ensemble(), id)
	return s
}

func (s *scene) with(team *team.Team, resumeID string) {
	s.t.Helper()
	if err := s.SetTeam(context.Background(), team, coordinator.SetTeamOptions{ResumeSessionID: resumeID}); err != nil {
		s.t.Fatal("set team:", err)
	}
}

func (s *scene) say(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if err := s.SayAs(context.Background(), s.speaker(text), text); err != nil {
			s.t.Fatalf("say %.40q: %v", text, err)
		}
	}
}

// speaker is who says a text: whoever the text names, else who is waited for,
// and the first human at the beginning.
func (s *scene) speaker(text string) string {
	if first, ok := s.Team().FirstHuman(); ok && s.Waiting() == "" && !strings.Contains(text, "[FROM:") {
		return first.Name
	}
	return ""
}

func (s *scene) stop() (id string) {
	s.t.Helper()
	id = s.Session().ID
	if err := s.Stop("end"); err != nil {
		s.t.Fatal("stop:", err)
	}
	return id
}

func (s *scene) checkAsked(want ...string) {
	s.t.Helper()
	if got := s.cast.asked(); !slices.Equal(got, want) {
		s.t.Errorf("asked were %v, want %v", got, want)
	}
}

// checkClean checks that there is a team and nothing else.
func (s *scene) checkClean(team *team.Team) {
	s.t.Helper()
	if s.Team() != team || s.Session() != nil || s.Status() != (coordinator.Status{Phase: coordinator.Idle}) || len(s.Queue()) > 0 {
		s.t.Errorf("left are team %v, session %+v, status %+v, queue %v", s.Team(), s.Session(), s.Status(), s.Queue())
	}
}

// turnError checks that one turn ended like that.
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

// disk is a FileStore on a disk that can fail.
type disk struct {
	*store.Files
	*journaltest.FS
	t    *testing.T
	root string
}

func onDisk(t *testing.T, maxLine int) *disk {
	return diskAt(t, filepath.Join(t.TempDir(), "home", "sessions"), maxLine)
}

// diskAt is a disk on which nothing has happened yet, with what another left.
func diskAt(t *testing.T, root string, maxLine int) *disk {
	d := &disk{FS: journaltest.New(journal.OS), t: t, root: root}
	d.Files = store.NewFiles(catalog.New(d.root, journal.Options{FS: d.FS, MaxLine: maxLine}))
	return d
}

func (d *disk) dir() string { return filepath.Join(d.root, "ensemble") }

func (d *disk) path(id string) string { return filepath.Join(d.dir(), id+".jsonl") }

// events reads a journal as a program would that knows nothing of this one.
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

// messages reads what was said from the journal, as "speaker: text".
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

// operations are the lines of the disk's log that match, without their number.
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

// content is every file below the root but locks, whose holders are only names.
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

// bothStores runs a test on the disk and in memory.
func bothStores(t *testing.T, test func(t *testing.T, store store.Store)) {
	t.Run("on the disk", func(t *testing.T) { test(t, onDisk(t, 0)) })
	t.Run("in memory", func(t *testing.T) { test(t, &store.Memory{}) })
}

// wrote puts a session into a store without a coordinator, as a program that
// died would leave it.
func wrote(t *testing.T, store store.Store, payloads ...projection.Payload) (id string) {
	t.Helper()
	log, err := store.Create("ensemble")
	if err != nil {
		t.Fatal(err)
	}
	state := &projection.State{}
	batch := []journal.Record{projection.Record(noon, projection.SessionCreated{
		Format: projection.Format, SessionID: log.SessionID(), Team: projection.Team{ID: "ensemble"},
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
