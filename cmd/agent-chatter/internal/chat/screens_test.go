package chat

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat/permission"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/clipperhouse/displaywidth"
)

// A scene is a chat on a screen, with a fixed clock.
type scene struct {
	model         console.Model
	transcript    *view.Transcript
	lines         []string // that are printed
	columns, rows int
	now           time.Time
}

func newScene(columns, rows int) *scene {
	demo := team.Demo()
	s := &scene{
		model:      console.Model{Prompt: "you> "},
		transcript: view.NewTranscript(demo),
		columns:    columns, rows: rows, now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC),
		lines: []string{bannerText(demo)},
	}
	s.model.Sources = sources(".")
	s.model.Sources.Files = nil
	for _, m := range demo.Members {
		s.model.Sources.Members = append(s.model.Sources.Members, editor.Choice{Text: "@" + m.Name, Help: m.DisplayName})
	}
	return s
}

func (s *scene) style() view.Style { return view.Style{Width: s.columns} }

func (s *scene) print(blocks []view.Block) {
	for _, b := range blocks {
		s.lines = append(s.lines, view.Render(b, s.style())...)
	}
}

// happens applies events.
func (s *scene) happens(payloads ...projection.Payload) {
	for _, p := range payloads {
		r := projection.Record(s.now, p)
		s.print(s.transcript.Apply(journal.Event{Time: r.Time, Type: r.Type, Data: r.Data}))
		s.now = s.now.Add(time.Second)
	}
}

// says applies the message of a person.
func (s *scene) says(text string) {
	s.happens(said("you", "You", projection.TypeHuman, text))
}

// types types text, and keys.
func (s *scene) types(text string, keys ...tty.Code) {
	for _, r := range text {
		s.model.Update(tty.Key{Code: tty.Code(r)})
	}
	for _, k := range keys {
		s.model.Update(tty.Key{Code: k})
	}
}

// starts begins a turn of Planner.
func (s *scene) starts() {
	s.happens(projection.TurnStarted{TurnID: "t1", MemberID: "planner"})
	s.model.Prompt = ""
	s.model.Status = console.Status{Doing: thinkingText("Planner"), Since: s.now.Add(-3 * time.Second), Escape: true}
}

// shown returns the screen. The cursor is a █.
func (s *scene) shown() string {
	s.print(s.transcript.Release(s.style(), s.rows/2))
	var held []string
	for _, b := range s.transcript.Held() {
		held = append(held, view.Render(b, s.style())...)
	}
	var rows []string
	for _, line := range s.lines {
		for displaywidth.String(line) > s.columns { // the terminal breaks it
			first := displaywidth.TruncateString(line, s.columns, "")
			rows, line = append(rows, first), line[len(first):]
		}
		rows = append(rows, line)
	}
	cursor := strings.NewReplacer("\x1b[7m \x1b[27m", "█", "\x1b[7m", "█", "\x1b[27m", "")
	for _, row := range s.model.Live(s.columns, s.rows, held, s.now) {
		rows = append(rows, displaywidth.TruncateString(cursor.Replace(row), s.columns-1, ""))
	}
	rows = rows[max(0, len(rows)-s.rows):]
	for i, row := range rows {
		rows[i] = strings.TrimRight(row, " ")
	}
	return strings.Join(rows, "\n") + "\n"
}

const reply = "# The plan\n\nFirst the **smallest** part that works, then a look at it together:\n\n" +
	"1. parse `1 + 2`\n2. evaluate\n\n```go\nfunc eval(e expr) int {\n\treturn e.left + e.right\n}\n```\n\n" +
	"| part | days |\n|---|---|\n| parser | 2 |\n| évaluation 计算器 | 1 |\n\nThen the rest, and *only* then."

var scenes = []struct {
	name string
	play func(s *scene)
}{
	{"new", func(*scene) {}},
	{"conversation", func(s *scene) {
		s.says("Write me a calculator.\nIn Go, please.")
		s.starts()
		s.happens(
			projection.ToolStarted{TurnID: "t1", ToolID: "c1", Name: "Bash", Input: json.RawMessage(`{"command":"go test ./..."}`)},
			projection.ToolCompleted{TurnID: "t1", ToolID: "c1", Name: "Bash", Output: "ok  calc\nok  calc/parse\n"},
			said("planner", "Planner", projection.TypeAI, reply),
			projection.TurnEnded{TurnID: "t1", MemberID: "planner", FinishReason: projection.Done, DurationMS: 4200,
				Usage: &projection.Usage{Input: 1200, Output: 340}},
		)
		s.model.Status, s.model.Prompt = console.Status{}, "you> "
	}},
	{"streaming", func(s *scene) {
		s.says("Write me a calculator.")
		s.starts()
		s.print(s.transcript.Stream(reply[:strings.Index(reply, "```go")]))
		s.print(s.transcript.Stream("Now the part of a sentence that is not finished and therefore held"))
		s.model.Status.Next = "Critic"
		s.types("and tests")
		s.model.Queued = []string{"in Go", "/status"}
	}},
	{"menu", func(s *scene) { s.types("/", tty.Down, tty.Down) }},
	{"search", func(s *scene) {
		s.model.Search = &console.Search{Text: "calc", Found: []string{"Write me a calculator.", "the calculator is wrong"}}
	}},
	{"permission", func(s *scene) {
		s.says("Remove it.")
		s.starts()
		p := agent.Permission{Tool: "edit", Title: "Edit main.go", Always: true, Edits: []agent.FileEdit{
			{Path: "main.go", Old: "package main\n\nvar a = 1\n", New: "package main\n\nvar a = 2\n"},
		}}
		s.lines = append(s.lines, strings.Split(permission.Text("Planner", p), "\n")...)
		q := permission.Question(p, true)
		s.model.Question = &q
	}},
	{"unfinished", func(s *scene) {
		s.says("Write me a calculator.")
		s.starts()
		s.print(s.transcript.Stream("First the smallest"))
		s.happens(projection.TurnEnded{TurnID: "t1", MemberID: "planner", FinishReason: projection.Cancelled,
			DurationMS: 1500, Partial: "First the smallest"})
		s.model.Status, s.model.Prompt = console.Status{Unsaved: textUnsaved}, "you> "
		s.model.Editor.Paste(strings.Repeat("line\n", 200))
		s.types(" a long text that is edited in the input box, and has several rows on a narrow screen", tty.Left)
	}},
}

// TestChatScreens compares what a person sees with golden files. -update rewrites them.
func TestChatScreens(t *testing.T) {
	for _, size := range []struct{ columns, rows int }{{80, 24}, {120, 40}, {40, 20}} {
		for _, scene := range scenes {
			name := fmt.Sprintf("%s-%dx%d", scene.name, size.columns, size.rows)
			t.Run(name, func(t *testing.T) {
				s := newScene(size.columns, size.rows)
				scene.play(s)
				got, path := s.shown(), filepath.Join("testdata", "screens", name+".golden")
				if flag.Lookup("update").Value.String() == "true" {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

func said(id, name, kind, text string) projection.MessageAppended {
	by := projection.Speaker{ID: id, Name: id, DisplayName: name, Type: kind}
	return projection.NewMessage("m", time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), by, text, nil)
}
