package host

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// counter is a EventLog that counts what it is called with.
type counter struct {
	coordinator.Listener
	events, notices, statuses int
}

func (c *counter) Event(coordinator.Event)   { c.events++ }
func (c *counter) Notice(coordinator.Notice) { c.notices++ }
func (c *counter) Status(coordinator.Status) { c.statuses++ }

// message is a message of a speaker of a type.
func message(speaker string) projection.MessageAppended {
	return projection.MessageAppended{Message: projection.Message{Speaker: projection.Speaker{Type: speaker}, Content: "secret"}}
}

func TestEventsAreLogged(t *testing.T) {
	created := projection.SessionCreated{SessionID: "s1", Team: projection.Team{ID: "t1"}}
	turn := projection.TurnStarted{TurnID: "1", MemberID: "ada"}
	paused := coordinator.Status{SessionID: "s1", Phase: coordinator.Paused}
	for _, tt := range []struct {
		name string
		what []any // payloads, notices and statuses
		want string
	}{
		{"a session", []any{created, projection.SessionEnded{Reason: "end"}},
			"INFO session started session=s1 team=t1\nINFO session ended session=s1 reason=end\n"},
		{"a resumed session", []any{coordinator.Restored{SessionID: "s1"}, projection.SessionResumed{}},
			"INFO session resumed session=s1\n"},
		{"a recovered journal", []any{created, projection.JournalRecovered{Recovered: journal.Recovered{Bytes: 5, Aside: "a"}}},
			"INFO session started session=s1 team=t1\nWARN journal recovered session=s1 bytes=5 aside=a\n"},
		{"turns", []any{
			coordinator.Restored{SessionID: "s1"}, projection.TurnEnded{MemberID: "ada", FinishReason: projection.Done},
			projection.TurnEnded{MemberID: "ada", FinishReason: projection.Failed},
		}, "WARN turn ended early session=s1 member=ada reason=error\n"},
		{"a failed save", []any{coordinator.Restored{SessionID: "s1"}, coordinator.SaveFailed{Err: errors.New("full")}},
			"ERROR save failed session=s1 error=full\n"},
		{"a save", []any{message(projection.TypeHuman), turn, turn, paused, paused},
			"INFO session saved session=s1 round=2\n"},
		{"a save after the next message", []any{turn, message(projection.TypeHuman), turn, message(projection.TypeAI), paused},
			"INFO session saved session=s1 round=1\n"},
		{"a save in a restored session", []any{turn, coordinator.Restored{SessionID: "s1"}, turn, paused},
			"INFO session saved session=s1 round=1\n"},
		{"a save in a new session", []any{turn, created, turn, paused},
			"INFO session started session=s1 team=t1\nINFO session saved session=s1 round=1\n"},
		{"no events", []any{paused}, ""},
		{"events in memory", []any{turn, coordinator.Status{SessionID: "s1", Phase: coordinator.Paused, Unsaved: true}}, ""},
		{"a turn that runs", []any{turn, coordinator.Status{SessionID: "s1", Phase: coordinator.Active}}, ""},
		{"no session", []any{turn, coordinator.Status{Phase: coordinator.Idle}}, ""},
		{"after the end", []any{created, projection.SessionEnded{Reason: "end"}, paused},
			"INFO session started session=s1 team=t1\nINFO session ended session=s1 reason=end\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log strings.Builder
			var next, want counter
			l := &EventLog{Listener: &next, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{
				ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
					if a.Key == slog.TimeKey {
						return slog.Attr{}
					}
					return a
				},
			}))}
			for _, what := range tt.what {
				switch what := what.(type) {
				case projection.Payload:
					want.events++
					l.Event(coordinator.Event{Event: projection.Event{Payload: what}})
				case coordinator.Status:
					want.statuses++
					l.Status(what)
				case coordinator.Notice:
					want.notices++
					l.Notice(what)
				}
			}
			got := strings.NewReplacer("level=", "", `msg="`, "", `" `, " ").Replace(log.String())
			if got = strings.ReplaceAll(got, "\" ", " "); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
			if next != want {
				t.Errorf("passed on: %+v, want %+v", next, want)
			}
		})
	}
}
