//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
)

// inScreens are parts of screens that differ between runs, and what replaces them.
var inScreens = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[0-9]+(\.[0-9]+)?m?s\b`), "1.0s"},
	{regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{26}`), "01HZ0000000000000000000000"},
	{regexp.MustCompile(`Restored - [^\x1b\n]*M`), "Restored - Jan 2, 03:04 PM"},
}

// programScreens are screens of the whole program.
var programScreens = []struct {
	name    string
	command string // in a directory with the team calc.json, whose agent plays a scene
	play    func(m *ttytest.Tmux)
	leave   []string // keys that lead back to an empty box
}{
	{"output_list", "agent-chatter chat -t calc.json", func(m *ttytest.Tmux) { // Ctrl+O
		m.Expect("Calculator · ")
		m.Press("a division by zero should be an error", "Enter")
		m.Expect("Calculator · 2 messages")
		m.Expect("eva> ")
		m.Press("C-o")
		m.Expect("3 of 3 · Enter opens") // all are read
	}, []string{"q"}},
	{"output", "agent-chatter chat -t calc.json", func(m *ttytest.Tmux) { // Enter in this list
		m.Expect("Calculator · ")
		m.Press("a division by zero should be an error", "Enter")
		m.Expect("Calculator · 2 messages")
		m.Expect("eva> ")
		m.Press("C-o")
		m.Expect(" · Enter opens")
		m.Press("Enter")
		m.Expect("1–")
	}, []string{"q", "q"}},
	{"attached", "agent-chatter chat -t demo", func(m *ttytest.Tmux) {
		m.Expect("you> ")
		m.Press("why does @par")
		m.Expect("@parse.go")
		m.Press("Tab")
		m.Press("accept @/etc/passwd", "Enter")
		m.Expect("cannot be attached")
		for range "/etc/passwd" {
			m.Press("BSpace")
		}
		m.Press("shot.png", "Enter")
		m.Expect("Demo · 3 messages")
		m.Expect("you> ")
	}, nil},
	{"attaching", "agent-chatter chat -t calc.json", func(m *ttytest.Tmux) {
		m.Expect("eva> ")
		m.Press("why does @p")
		m.Expect("@parse.go")
	}, []string{"C-u"}},
	{"plain", "agent-chatter chat -t calc.json --plain", func(m *ttytest.Tmux) {
		m.Expect("eva> ")
		m.Press("a division by zero should be an error", "Enter")
		m.ExpectTimes("eva> ", 2)
		m.Press("evaluate more of them at once", "Enter")
		m.Expect("Refuse with a reason")
		m.Press("n not now", "Enter")
		m.ExpectTimes("eva> ", 3)
	}, nil},
	{"resumed", "agent-chatter chat -t calc.json -m begin >/dev/null; agent-chatter chat --resume", func(m *ttytest.Tmux) {
		m.Expect("eva> ")
		m.Expect("Calculator · 2 messages")
	}, nil},
	{"first_run", "PATH=$PWD/bin:$PATH agent-chatter chat", func(m *ttytest.Tmux) {
		m.Expect("[Y/n] ")
		m.Press("Enter")
		m.Expect("[ask] ")
		m.Press("Enter")
		m.Expect("you> ")
		m.Expect("shop · ")
	}, nil},
	{"first_run_demo", "PATH=$PWD/bin:$PATH agent-chatter chat", func(m *ttytest.Tmux) {
		m.Expect("[Y/n] ")
		m.Press("n", "Enter")
		m.Expect("you> ")
		m.Expect("Demo · ")
	}, nil},
}

// TestProgramScreens compares what a person sees of the whole program with golden files, and draws it. Without -full it
// plays two of the scenes, on a terminal of one size, and draws nothing.
func TestProgramScreens(t *testing.T) {
	skipIfShort(t)
	racetest.Skip(t, "TestTerminal runs the same goroutines")
	t.Parallel()
	sizes := []picture.Size{{Columns: 80, Rows: 24}, {Columns: 120, Rows: 40}, {Columns: 40, Rows: 20}}
	every := apptest.EveryScreen()
	if !every {
		sizes = sizes[:1]
	}
	for _, s := range programScreens {
		if s.name != "resumed" && s.name != "first_run" && !every && !namesSubtest() {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			var golden strings.Builder
			var screens []picture.Screen
			for _, size := range sizes {
				work := filepath.Join(t.TempDir(), "shop")
				if err := os.CopyFS(work, os.DirFS(filepath.Join("testdata", "pictures"))); err != nil {
					t.Fatal(err)
				}
				// The agent does not wait.
				scene := regexp.MustCompile(`, "wait": [0-9]+`).ReplaceAllString(readFile(t, filepath.Join(work, "ada.scene")), "")
				claude := []byte("#!/bin/sh\necho 2.1.0 '(Claude Code)'\n")
				var shot bytes.Buffer
				err := errors.Join(png.Encode(&shot, image.NewGray(image.Rect(0, 0, 9, 9))),
					os.Mkdir(filepath.Join(work, "bin"), 0o700))
				if err == nil {
					err = errors.Join(os.WriteFile(filepath.Join(work, "parse.go"), []byte("package calc\n"), 0o600),
						os.WriteFile(filepath.Join(work, "shot.png"), shot.Bytes(), 0o600),
						os.WriteFile(filepath.Join(work, "bin", "claude"), claude, 0o700),
						os.WriteFile(filepath.Join(work, "ada.scene"), []byte(scene), 0o600))
				}
				if err != nil {
					t.Fatal(err)
				}
				m := ttytest.Start(t, size.Columns, size.Rows, fmt.Sprintf(
					"cd %s; export AGENT_CHATTER_HOME=%s; %s; echo the end; exec cat", work, filepath.Join(work, "home"), s.command))
				s.play(m)
				if !strings.HasPrefix(s.name, "output") { // the caret is no cell of the screen then
					m.AwaitCursor()
				}
				capture := m.Run("capture-pane", "-e", "-p", "-N", "-J")
				m.Press(append(s.leave, "C-d")...) // so that nothing writes to the directory when it is removed
				m.Expect("the end")
				capture = strings.ReplaceAll(capture, work, "/home/eva/shop")
				for _, differs := range inScreens {
					capture = differs.pattern.ReplaceAllString(capture, differs.with)
				}
				screen := picture.Parse(capture)
				screens = append(screens, screen)
				fmt.Fprintf(&golden, "==== %dx%d\n%s", size.Columns, size.Rows, screen)
			}
			if !every {
				apptest.GoldenStart(t, filepath.Join("testdata", "screens", s.name+".golden"), golden.String())
				return
			}
			apptest.Golden(t, filepath.Join("testdata", "screens", s.name+".golden"), golden.String())
			apptest.Golden(t, filepath.Join("testdata", "screens", s.name+".svg"), picture.Dark.Draw(screens, sizes))
		})
	}
}
