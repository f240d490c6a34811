//go:build linux || darwin

package tty

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/creack/pty"
)

// xterm is a terminal of xterm.js, with a program of this test binary.
type xterm struct {
	t        *testing.T
	terminal *os.File // where the program's terminal ends
	out      *json.Decoder

	mu     sync.Mutex
	in     *json.Encoder
	shown  strings.Builder // what the program has written
	closed bool
	change *sync.Cond // of shown and closed
}

// message is what testdata/xterm.js takes.
type message struct {
	Write     []byte `json:"write,omitempty"`
	Resize    []int  `json:"resize,omitempty"`
	Dump      bool   `json:"dump,omitempty"`
	Cursor    bool   `json:"cursor,omitempty"`
	Attention bool   `json:"attention,omitempty"`
}

func startXterm(t *testing.T, name string) *xterm {
	t.Helper()
	programtest.Path(t, "node")
	library := programtest.NodeModule(t, "@xterm/headless")
	node := exec.Command("node", filepath.Join("testdata", "xterm.js"), library)
	node.Stderr = os.Stderr
	in, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	program := exec.Command(os.Args[0])
	program.Env = append(program.Environ(), programVariable+"="+name)
	terminal, err := pty.StartWithSize(program, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	x := &xterm{t: t, terminal: terminal, in: json.NewEncoder(in), out: json.NewDecoder(out)}
	x.change = sync.NewCond(&x.mu)
	read := make(chan struct{})
	go func() {
		defer close(read)
		x.read()
	}()
	t.Cleanup(func() {
		program.Process.Kill()
		program.Wait()
		<-read
		terminal.Close()
		in.Close()
		if err := node.Wait(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// read shows the output of the program, whole frames at once: a resize within a frame would cut the line that the
// cursor is on, which xterm.js does not wrap again.
func (x *xterm) read() {
	var text []byte
	for buf := make([]byte, 4096); ; {
		n, err := x.terminal.Read(buf)
		text = append(text, buf[:n]...)
		end := bytes.LastIndex(text, []byte(endUpdate)) + len(endUpdate)
		x.mu.Lock()
		if err == nil && end >= len(endUpdate) {
			x.shown.Write(text[:end])
			err = x.in.Encode(message{Write: text[:end]})
			text = text[end:]
		}
		x.closed = err != nil
		x.change.Broadcast()
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// expect waits until the program has written a text.
func (x *xterm) expect(text string) {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	for !strings.Contains(x.shown.String(), text) {
		if x.closed {
			x.t.Fatalf("the program has ended without %q", text)
		}
		x.change.Wait()
	}
}

func (x *xterm) resize(columns, rows int) {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.in.Encode(message{Resize: []int{columns, rows}}); err != nil {
		x.t.Fatal(err)
	}
	if err := pty.Setsize(x.terminal, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}); err != nil {
		x.t.Fatal(err)
	}
}

// ask sends a message and decodes its answer.
func (x *xterm) ask(m message, answer any) {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.in.Encode(m); err != nil {
		x.t.Fatal(err)
	}
	if err := x.out.Decode(answer); err != nil {
		x.t.Fatal(err)
	}
}

func (x *xterm) lines() (lines []string) {
	x.t.Helper()
	x.ask(message{Dump: true}, &lines)
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// TestCaretOnXterm looks for the cursor after each key. A terminal that becomes narrower than what is typed keeps the
// lines above it.
func TestCaretOnXterm(t *testing.T) {
	x := startXterm(t, "caret")
	x.expect("status")
	for i, step := range []struct {
		typed, shown string
		column       int
	}{
		{"a", "> a", 3}, {"界", "> a界", 5}, {"e\u0301", "> a界e\u0301", 6}, {"🫖", "🫖", 8}, {strings.Repeat("y", 40), "yyyy", 48},
	} {
		if _, err := io.WriteString(x.terminal, step.typed); err != nil {
			t.Fatal(err)
		}
		x.expect(step.shown)
		at := [2]int{}
		for at[0] != step.column { // the rest of what is typed is drawn with a later frame
			x.ask(message{Cursor: true}, &at)
		}
		if at[1] != 2 {
			t.Errorf("step %d: the cursor is in row %d", i, at[1])
		}
	}
	x.resize(20, 24)
	x.expect("drawn at 20")
	if lines := x.lines(); lines[0] != "first" {
		t.Errorf("the lines are %q", lines)
	}
}

// TestAttentionOnXterm looks for the title and the bell. The sequence of a title rings no bell of its own, and a
// notification that xterm.js does not know leaves nothing on the screen.
func TestAttentionOnXterm(t *testing.T) {
	t.Setenv("TERM_PROGRAM", "WezTerm")
	t.Setenv("TMUX", "")
	t.Setenv("STY", "")
	x := startXterm(t, "caret")
	x.expect("status")
	var got struct {
		Title string
		Bells int
	}
	for i, title := range []string{"● works", "? Ada asks", "✓ done"} {
		if _, err := io.WriteString(x.terminal, string(rune('1'+i))); err != nil {
			t.Fatal(err)
		}
		x.expect("> " + "123"[:i+1])
		if x.ask(message{Attention: true}, &got); got.Title != title || got.Bells != i+1 {
			t.Errorf("key %d: title %q and %d bells", i+1, got.Title, got.Bells)
		}
	}
	if lines := x.lines(); !slices.Equal(lines, []string{"first", "", "> 123", "status"}) {
		t.Errorf("the lines are %q", lines)
	}
}

// TestResizesOfXtermKeepLines resizes a terminal of xterm.js at random moments while lines stream. It may leave a live
// row in the scrollback, because it wraps that row again before the program knows of the resize.
func TestResizesOfXtermKeepLines(t *testing.T) {
	const resizes = 50
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	x := startXterm(t, "stream")
	for i := range resizes {
		x.expect(fmt.Sprintf("line %04d", 1+i*(streamed-20)/resizes+random.IntN(10)))
		x.resize(20+random.IntN(100), 5+random.IntN(35))
	}
	x.expect(fmt.Sprintf("status %d", streamed))
	x.resize(110, 30)
	if _, err := io.WriteString(x.terminal, "r"); err != nil {
		t.Fatal(err)
	}
	x.expect("status " + redrawnAt(110, 30))
	lines, stale := streamedLines(), 0
	shown := x.lines()
	live := streamRows(redrawnAt(110, 30))
	if got := shown[len(shown)-len(live):]; !slices.Equal(got, live) {
		t.Errorf("the live rows are %q", got)
	}
	for _, line := range shown[:len(shown)-len(live)] {
		switch {
		case len(lines) > 0 && line == lines[0]:
			lines = lines[1:]
		case strings.HasPrefix(line, "line"):
			t.Errorf("unexpected: %q", line)
		default:
			stale++
		}
	}
	if len(lines) > 0 {
		t.Errorf("missing, or not in order: %q and %d more", lines[0], len(lines)-1)
	}
	if stale > resizes {
		t.Errorf("%d stale rows after %d resizes", stale, resizes)
	}
	t.Logf("%d stale rows", stale)
}
