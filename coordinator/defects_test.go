package coordinator_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Each test is named after a defect of other versions of agent-chatter.

func TestDefectResumeLoadedOldestSave(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	s.say("one", "two", "three")
	id := s.stop()
	again := resume(t, d, id)
	again.say("four")
	again.stop()

	list, err := d.List(t.Context(), "ensemble")
	if err != nil || len(list) != 1 || list[0].MessageCount != 8 {
		t.Fatalf("the list is %+v, %v", list, err)
	}
	last := resume(t, d, id)
	if recent := last.messages(); len(recent) != 8 || recent[6].Content != "four" {
		t.Errorf("session.resumed is %+v", recent)
	}
	last.stop()
	if err := d.Delete(t.Context(), "ensemble", id); err != nil {
		t.Fatal(err)
	}
	for path := range d.content() {
		if strings.Contains(filepath.Base(path), id) && !strings.Contains(path, "trash") {
			t.Errorf("%s still exists", path)
		}
	}
}

func TestDefectIDPrefixMatched(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		id := oneRound(t, store)
		for _, other := range []string{id[:len(id)-1], id + "X", id[1:]} {
			if _, _, err := store.Open(t.Context(), "ensemble", other); !errors.Is(err, journal.ErrNotFound) {
				t.Errorf("open %s: %v", other, err)
			}
			if _, err := store.Load(t.Context(), "ensemble", other); !errors.Is(err, journal.ErrNotFound) {
				t.Errorf("load %s: %v", other, err)
			}
			if err := store.Delete(t.Context(), "ensemble", other); err != nil {
				t.Errorf("delete %s: %v", other, err)
			}
		}
		if _, err := store.Load(t.Context(), "ensemble", id); err != nil {
			t.Error(err)
		}
	})
}

func TestDefectEscapeStoredPartialReply(t *testing.T) {
	d := onDisk(t, 0)
	ctx, cancel := context.WithCancel(context.Background())
	s := start(t, d, cancels(cancel, "half [NEXT: bob] [DROP: ALL] [TEAM_TASK: x]"))
	turnError(t, s.Say(ctx, "you", "hello [NEXT: ada, bob]"), "ada", projection.Cancelled)
	s.checkMembers("ada")
	if len(s.Queue()) > 0 || s.Session().TeamTask != nil || s.Waiting() != "you" {
		t.Errorf("queue %v, the task is %v, waiting for %s", s.Queue(), s.Session().TeamTask, s.Waiting())
	}
	id := s.stop()
	d.checkMessages(id, "you: hello")
	if ends := payloads[projection.TurnEnded](t, d.events(id)); len(ends) != 1 ||
		!strings.HasPrefix(ends[0].Partial, "half ") {
		t.Errorf("the partial reply is %+v", ends)
	}
}

func TestDefectErrorLeftRouterLocked(t *testing.T) {
	s := start(t, &store.Memory{}, yields(errors.New("broken")))
	turnError(t, s.Say(context.Background(), "you", "hello"), "ada", projection.Failed)
	s.say("again", "and you [NEXT: bob]")
	s.checkMembers("ada", "ada", "bob")
}

func TestDefectRepliedMessageWasNotFound(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		s := start(t, store, says("over [NEXT: bob]"), yields(errors.New("broken")))
		turnError(t, s.Say(context.Background(), "you", "hello"), "bob", projection.Failed)
		inMemory := s.messages()
		started := payloads[projection.TurnStarted](t, s.recorder.appended)
		id := s.stop()
		snapshot, err := store.Load(t.Context(), "ensemble", id)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range snapshot.Context.Messages {
			if m.ID != inMemory[i].ID || m.ID != started[i].TriggerMessageID {
				t.Errorf("message %d has the ID %s on disk, %s in memory and %s in the turn it triggered", i, m.ID,
					inMemory[i].ID, started[i].TriggerMessageID)
			}
		}
		again := resume(t, store, id)
		if err := again.Retry(context.Background()); err != nil {
			t.Fatal(err)
		}
		if prompt := again.engine.prompt(); !strings.HasSuffix(prompt, "Message from Ada:\n  over\n") {
			t.Errorf("the prompt of bob is\n%s", prompt)
		}
	})
}

func TestDefectMarkersDestroyedIndentation(t *testing.T) {
	const code = "```go\nif x {\n\treturn // [NEXT: bob]\n}\n```"
	const reply = "  indented `[DROP: ALL]`\n\n\n\tand  wide\n\n" + code
	// In a prompt, all lines but the first and the empty ones are indented by two more.
	const indented = "  indented `[DROP: ALL]`\n\n\n  \tand  wide\n\n" +
		"  ```go\n  if x {\n  \treturn // [NEXT: bob]\n  }\n  ```"
	d := onDisk(t, 0)
	s := start(t, d, says(reply+"\n\n[NEXT: eve]"))
	s.say("hello [NEXT: ada, bob]")
	if s.Waiting() != "eve" || !slices.Equal(s.Queue(), []string{"bob"}) {
		t.Errorf("waiting for %q, queue %v", s.Waiting(), s.Queue())
	}
	d.checkMessages(s.Session().ID, "you: hello", "ada: "+reply)
	s.say("continue")
	if prompt := s.engine.prompt(); !strings.Contains(prompt, "Ada -> eve: "+indented+"\n") {
		t.Errorf("the prompt of bob is\n%s", prompt)
	}
}

func TestDefectTeamDirectoriesCollided(t *testing.T) {
	root := t.TempDir()
	store := store.NewFiles(catalog.New(root, journal.Options{}))
	ids := map[string]string{}
	names := []string{"团队A", "团组A", "Dev", "dev", "a b", "a_b", "../../etc", strings.Repeat("x", 300),
		strings.Repeat("x", 301)}
	for _, name := range names {
		s := newFixture(t, store)
		team := testTeam()
		team.ID, team.Name = name, name
		s.setTeam(team, "")
		s.say("I am " + name)
		ids[name] = s.stop()
	}
	dirs, err := os.ReadDir(root)
	if err != nil || len(dirs) != len(names) {
		t.Errorf("%d directories, %v", len(dirs), err)
	}
	for _, name := range names {
		list, err := store.List(t.Context(), name)
		if err != nil || len(list) != 1 || list[0].SessionID != ids[name] {
			t.Errorf("%s has %+v, %v", name, list, err)
		}
	}
}

func TestDefectNothingWasSavedDuringTurns(t *testing.T) {
	d := onDisk(t, 0)
	var s *fixture
	var seen []string
	look := func() { seen = d.messages(s.Session().ID) }
	s = start(t, d, says("one [NEXT: bob]"), says("two [NEXT: ada]"), calls(look, says("three")))
	s.say("hello")
	if want := []string{"you: hello", "ada: one", "bob: two"}; !slices.Equal(seen, want) {
		t.Errorf("when the third agent starts the journal has %q, want %q", seen, want)
	}
}
