package coordinator_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestMethodsNeedATeamAndASession(t *testing.T) {
	s := newFixture(t, &store.Memory{})
	if err := s.SetTask("a boat"); !errors.Is(err, coordinator.ErrNoTeam) {
		t.Errorf("set the task: %v", err)
	}
	team := testTeam()
	s.setTeam(team, "")
	_, snapshotErr := s.Snapshot(t.Context())
	for name, tt := range map[string]struct{ got, want error }{
		"rename":              {s.Rename("a title"), coordinator.ErrNoSession},
		"snapshot":            {snapshotErr, coordinator.ErrNoSession},
		"retry":               {s.Retry(t.Context()), coordinator.ErrNothingToRetry},
		"save":                {s.Save(), nil},
		"message of nobody":   {s.Say(t.Context(), "nobody", "hello"), coordinator.ErrNoSuchHuman},
		"message of an agent": {s.Say(t.Context(), "ada", "hello"), coordinator.ErrNoSuchHuman},
	} {
		if !errors.Is(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", name, tt.got, tt.want)
		}
	}
	s.checkClean(team)
}

// uncreated is a store that creates no session.
type uncreated struct{ store.Store }

func (uncreated) Create(string, string) (store.Log, error) { return nil, syscall.EROFS }

func TestSessionThatCannotBeCreatedIsNone(t *testing.T) {
	s := start(t, uncreated{&store.Memory{}})
	if err := s.Say(t.Context(), "you", "hello"); !errors.Is(err, syscall.EROFS) {
		t.Errorf("say: %v", err)
	}
	if err := s.SetTask("a boat"); !errors.Is(err, syscall.EROFS) {
		t.Errorf("set the task: %v", err)
	}
	s.checkClean(s.Team())
}

func TestTooLongTitleIsRefused(t *testing.T) {
	s := start(t, onDisk(t, maxLine))
	s.say("hello")
	title := s.Session().Title
	if err := s.Rename(strings.Repeat("x", maxLine)); !errors.Is(err, journal.ErrTooLong) {
		t.Errorf("rename: %v", err)
	}
	if got := s.Session().Title; got != title || s.Status().Unsaved {
		t.Errorf("the title is %.20q, unsaved: %v", got, s.Status().Unsaved)
	}
}

// failedTurn returns the events of a turn of a member that failed.
func failedTurn(memberID, triggerID string) []projection.Payload {
	return []projection.Payload{
		projection.TurnStarted{TurnID: "t1", MemberID: memberID, TriggerMessageID: triggerID},
		projection.TurnEnded{TurnID: "t1", MemberID: memberID, FinishReason: projection.Failed},
	}
}

func TestRetryNeedsTheMemberAndTheMessage(t *testing.T) {
	said := message(by("you", "you", projection.TypeHuman), "hello")
	for name, tt := range map[string]struct {
		memberID, triggerID string
		want                error
	}{
		"both":               {"ada", said.Message.ID, nil},
		"no such member":     {"zoe", said.Message.ID, coordinator.ErrNothingToRetry},
		"no such message":    {"ada", "elsewhere", coordinator.ErrNothingToRetry},
		"no ID of a message": {"ada", "", coordinator.ErrNothingToRetry},
	} {
		m := &store.Memory{}
		s := resume(t, m, writeSession(t, m, append([]projection.Payload{said}, failedTurn(tt.memberID, tt.triggerID)...)...))
		if err := s.Retry(t.Context()); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// The message of an agent that an import took over has no turn.
func TestRetryOfAnswerToMessageWithoutTurn(t *testing.T) {
	m := &store.Memory{}
	said := message(by("bob", "bob", projection.TypeAI), "look at this")
	s := resume(t, m, writeSession(t, m, append([]projection.Payload{said}, failedTurn("ada", said.Message.ID)...)...))
	if err := s.Retry(t.Context()); err != nil {
		t.Fatal(err)
	}
	if prompt := s.engine.prompt(); !strings.HasSuffix(prompt, "\n\nMessage from bob:\n  look at this\n") ||
		strings.Contains(prompt, "answered") {
		t.Errorf("the prompt is\n%s", prompt)
	}
}

func TestOmittedPartOfInterruptedReplyIsCounted(t *testing.T) {
	const kept = 1 << 20
	for length, want := range map[int]int64{kept: 0, kept + 1: kept + 1} {
		m := &store.Memory{}
		s := resume(t, m, writeSession(t, m, projection.TurnStarted{TurnID: "t1", MemberID: "ada"},
			projection.TurnText{TurnID: "t1", Text: strings.Repeat("x", length)}))
		s.say("continue")
		end := payloads[projection.TurnEnded](t, s.recorder.appended)[0]
		if end.TurnID != "t1" || len(end.Partial) != kept || end.PartialBytes != want {
			t.Errorf("of %d bytes %d are recorded; the length is %d, want %d", length, len(end.Partial), end.PartialBytes, want)
		}
	}
}
