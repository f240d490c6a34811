package main

import (
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var castFile = flag.String("cast", "", "record a conversation in a real terminal and draw it into this SVG file "+
	"(needs tmux)")

const (
	castColumns, castRows = 88, 24
	castFrame             = 200 * time.Millisecond
)

// step is a line to type, and the time to show the screen afterwards.
type step struct {
	keys []string // as tmux names them
	look time.Duration
}

// TestCast draws the picture of the README from a run of the program in tmux.
func TestCast(t *testing.T) {
	if *castFile == "" {
		t.Skip("no -cast FILE given")
	}
	dir, err := os.MkdirTemp("", "cast") // the shell may still be writing when the test ends
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "agent-chatter")
	runTool(t, "go", "build", "-o", binary, ".")
	shell := fmt.Sprintf("cd %s && exec env PATH=%s:$PATH HOME=%s AGENT_CHATTER_HOME=%s PS1='$ ' bash --norc", dir, dir,
		dir, filepath.Join(dir, "home"))
	tmux := func(args ...string) string { return runTool(t, "tmux", append([]string{"-L", "cast"}, args...)...) }
	tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(castColumns), "-y", fmt.Sprint(castRows), shell)
	defer exec.Command("tmux", "-L", "cast", "kill-server").Run()

	var frames []string
	for _, s := range []step{
		{nil, 400 * time.Millisecond},
		{typed("agent-chatter chat"), 800 * time.Millisecond},
		{typed("how do we keep a conversation?"), 2 * time.Second},
		{[]string{"C-c"}, 1200 * time.Millisecond}, // during a reply
		{typed("agent-chatter chat --resume"), 1500 * time.Millisecond},
		{typed("/retry"), 7 * time.Second},
		{typed("/end"), time.Second},
		{typed("agent-chatter sessions"), time.Second},
		{typed("agent-chatter verify"), 3 * time.Second},
	} {
		for _, key := range s.keys {
			tmux(append([]string{"send-keys"}, keyArgs(key)...)...)
			frames = append(frames, tmux("capture-pane", "-p"))
		}
		for end := time.Now().Add(s.look); time.Now().Before(end); {
			time.Sleep(castFrame) // the frame rate
			frames = append(frames, tmux("capture-pane", "-p"))
		}
	}
	if err := os.WriteFile(*castFile, []byte(drawCast(frames)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func runTool(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}

// typed returns a line as keys, three at a time.
func typed(line string) []string {
	var keys []string
	for i := 0; i < len(line); i += 3 {
		keys = append(keys, line[i:min(len(line), i+3)])
	}
	return append(keys, "Enter")
}

// drawCast returns an SVG that shows the screens in an endless loop.
func drawCast(frames []string) string {
	const charWidth, lineHeight, margin = 8.4, 18, 12
	width, height := castColumns*charWidth+2*margin, float64(castRows*lineHeight+2*margin)
	var screens []string
	var starts []int
	for i, f := range frames {
		if i == 0 || f != frames[i-1] {
			screens, starts = append(screens, f), append(starts, i)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" `+
		`font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="#16181d"/>`+"\n<g fill=\"#d8dee9\" "+
		"xml:space=\"preserve\">\n")
	total := float64(len(frames)) * castFrame.Seconds()
	for i, screen := range screens {
		end := len(frames)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		from, to := float64(starts[i])/float64(len(frames)), float64(end)/float64(len(frames))
		still := "hidden"
		if i == len(screens)-1 {
			still = "visible" // without animation
		}
		fmt.Fprintf(&b, `<g visibility="%s"><animate attributeName="visibility" calcMode="discrete" dur="%.1fs" `+
			`repeatCount="indefinite" values="hidden;visible;hidden" keyTimes="0;%.5f;%.5f"/>`, still, total, from, to)
		for row, line := range strings.Split(strings.TrimRight(screen, "\n"), "\n") {
			if line = strings.TrimRight(line, " "); line != "" {
				fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`, margin, margin+(row+1)*lineHeight-4,
					html.EscapeString(line))
			}
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</g></svg>\n")
	return b.String()
}

// keyArgs returns the arguments of send-keys for a key: its name, or its letters.
func keyArgs(key string) []string {
	if key == "Enter" || key == "C-c" {
		return []string{key}
	}
	return []string{"-l", key}
}
