package preview

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

const id = "01KAJ000000000000000000000"

var (
	noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	mia  = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	ada  = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	bo   = projection.Speaker{ID: "bo", Name: "bo", DisplayName: "Bo", Type: projection.TypeAI}
)

// A session is a session in a home of its own.
type session struct {
	t       testing.TB
	disk    *journaltest.FS
	app     *app.App
	dir     *catalog.Dir
	events  []journal.Event
	at      journal.Position
	pending []byte // lines that flush writes
	seal    bool   // flush writes a sync mark
}

// newSession returns a session with its first event.
func newSession(t testing.TB) *session {
	t.Helper()
	disk := journaltest.New(vfs.OS)
	c := catalog.New(t.TempDir(), journal.Options{FS: disk})
	s := &session{t: t, disk: disk, app: &app.App{Catalog: c}, dir: c.Team("kitchen"), seal: true}
	if err := os.MkdirAll(s.dir.Journals().Path(), 0o700); err != nil {
		t.Fatal(err)
	}
	team := projection.Team{ID: "kitchen", Name: "Kitchen"}
	for _, m := range []projection.Speaker{mia, ada, bo} {
		team.Members = append(team.Members, projection.Member{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type})
	}
	s.add(projection.SessionCreated{Format: 1, SessionID: id, Team: team, CWD: "/home/mia/kettle"})
	return s
}

// add adds events, which flush writes.
func (s *session) add(payloads ...projection.Payload) {
	s.t.Helper()
	for _, p := range payloads {
		s.record(projection.Record(noon.Add(time.Duration(len(s.events))*time.Second), p))
	}
}

func (s *session) record(r journal.Record) {
	s.t.Helper()
	e, at, err := s.at.Next(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.events, s.at, s.pending = append(s.events, e), at, append(append(s.pending, e.Line()...), '\n')
}

func (s *session) say(by projection.Speaker, content string) uint64 {
	s.add(projection.NewMessage("m", noon, by, content, nil))
	return s.at.Seq
}

// turn adds a turn that replies with some texts, and a tool call after each but the last.
func (s *session) turn(by projection.Speaker, texts ...string) uint64 {
	turn := fmt.Sprintf("t%d", s.at.Seq)
	s.add(projection.TurnStarted{TurnID: turn, MemberID: by.ID})
	for i, text := range texts {
		if i > 0 {
			s.call(turn, fmt.Sprint(i), "ls -l", "total 3\na\nb\nc\nd\n")
		}
		s.add(projection.TurnText{TurnID: turn, Text: text})
	}
	seq := s.say(by, strings.Join(texts, ""))
	s.add(projection.TurnEnded{TurnID: turn, MemberID: by.ID, FinishReason: projection.Done, DurationMS: 1200})
	return seq
}

func (s *session) call(turn, tool, command, output string) {
	input, _ := json.Marshal(map[string]string{"command": command})
	s.add(projection.ToolStarted{TurnID: turn, ToolID: tool, Name: "Bash", Input: input},
		projection.ToolCompleted{TurnID: turn, ToolID: tool, Name: "Bash", Output: output})
}

func (s *session) path() string { return filepath.Join(s.dir.Journals().Path(), id+".jsonl") }

// flush appends what was added to the journal.
func (s *session) flush() {
	s.t.Helper()
	if len(s.pending) == 0 {
		return
	}
	f, err := os.OpenFile(s.path(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(s.pending)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.pending = nil
}

// row writes what was added and returns the session as a list has it.
func (s *session) row() catalog.Session {
	s.t.Helper()
	s.flush()
	row, err := s.dir.Session(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return row
}

// pane returns a pane of the session that shows its end, or a message.
func (s *session) pane(columns, rows int, at uint64) *Pane {
	s.t.Helper()
	p := New(s.app)
	drive(p, p.SetSize(columns, rows))
	drive(p, p.Show(s.row(), at))
	return p
}

// drive runs a command and those that follow from it.
func drive(p *Pane, cmd tea.Cmd) {
	for cmd != nil {
		cmd = p.Update(cmd())
	}
}

func press(p *Pane, keys ...string) {
	for _, key := range keys {
		code := map[string]rune{"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
			"up": tea.KeyUp, "down": tea.KeyDown}[key]
		msg := tea.KeyPressMsg{Code: code}
		if code == 0 {
			msg = tea.KeyPressMsg{Code: rune(key[0]), Text: key}
		}
		if rest, ok := strings.CutPrefix(key, "ctrl+"); ok {
			msg = tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
		}
		drive(p, p.Update(msg))
	}
}

// shown returns the rows of the conversation without the column of the signs and the blank rows at the end.
func shown(p *Pane) []string {
	rows := p.Rows()[p.size.rows-p.height():]
	for i, row := range rows {
		rows[i] = strings.TrimPrefix(strings.TrimPrefix(row, noSign), matchSign)
	}
	return trimmed(rows)
}

// trimmed returns rows without the blank ones at the end.
func trimmed(rows []string) []string {
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// replayed returns what replay prints of a session, divided at so many columns.
func (s *session) replayed(columns int, profile ansi.Profile) (rows []string) {
	style := view.Style{Width: columns + 1, Profile: profile}
	var t view.Transcript
	var blocks []view.Block
	for _, e := range s.events {
		blocks = append(blocks, t.Apply(projection.DecodeEvent(e))...)
	}
	for _, b := range append(blocks, t.Close()...) {
		for _, line := range view.Lines(b, style) {
			for _, line := range fitting(line, columns) {
				if text := profile.Encode(line); len(rows) > 0 || text != "" {
					rows = append(rows, text)
				}
			}
		}
	}
	return rows
}

// a failer is a test, of rapid or not.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func equal(t failer, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s: %d rows, want %d. From row %d on:\n%q\nwant\n%q", what, len(got), len(want), i,
				got[min(i, len(got)):min(i+5, len(got))], want[min(i, len(want)):min(i+5, len(want))])
		}
	}
}
