package figures

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const (
	streamedLines = 500 // per second
	keysPerLine   = 40  // then the input box is cleared
	clearKeys     = "\x15"
	cursor        = "\x1b[7m"
	// keyPace is the time between two keys. It is no multiple of the time between two
	// frames.
	keyPace = 11 * time.Millisecond
)

// echo measures the delay between a key and its echo, while an agent streams
// lines and, at the same time, in a chat in which no agent speaks and in a program
// that only shows what is typed.
func (f *figures) echo(t *testing.T) {
	v, team := version{f.program, f.home(t)}, f.streamingTeam(t)
	screens := []*screen{
		startScreen(t, "a program that only echoes", exec.Command(f.peer, "echo")),
		startScreen(t, "chat while no agent speaks", v.command("chat", "-t", team)),
		startScreen(t, "chat while an agent streams 500 lines a second", v.command("chat", "-t", team)),
	}
	for _, s := range screens {
		s.expect(t, prompted)
	}
	streaming := screens[2]
	streaming.press(t, "begin\r", "line 2 ")

	began, first := time.Now(), streaming.lines()
	typed := ""
	for n := range f.keys {
		keys := string(rune('a' + n%26))
		if typed += keys; n%keysPerLine == 0 {
			typed, keys = keys, clearKeys+keys
		}
		for _, s := range screens {
			s.delays = append(s.delays, s.press(t, keys, typed+cursor))
			time.Sleep(keyPace)
		}
	}
	lines := float64(streaming.lines()-first) / time.Since(began).Seconds()

	var rows [][]string
	for _, s := range screens {
		slices.Sort(s.delays)
		rows = append(rows, []string{
			s.name, fmt.Sprintf("%.2f", milliseconds(s.delay(50))), fmt.Sprintf("%.2f", milliseconds(s.delay(99))),
			fmt.Sprint(f.keys),
		})
	}
	printTable([]string{"echo of a key", "median ms", "99th percentile ms", "keys"}, rows)
	f.atLeast("lines on the terminal, relative to 500 per second", lines/streamedLines, 0.9, "×")
	for _, percent := range []int{50, 99} {
		what := fmt.Sprintf("echo of a key while 500 lines a second stream, percentile %d", percent)
		f.atMost(what, milliseconds(streaming.delay(percent)), 16, "ms")
		for i, most := range []float64{20, 10} {
			relative := streaming.delay(percent).Seconds() / screens[i].delay(percent).Seconds()
			f.atMost(what+", relative to "+screens[i].name, relative, most, "×")
		}
	}
}

// streamingTeam writes a team of you and a writer that streams lines.
func (f *figures) streamingTeam(t *testing.T) string {
	t.Helper()
	type object map[string]any
	content, err := json.Marshal(object{
		"schemaVersion": "1.2",
		"agents": []object{{
			"name": "writer", "command": f.peer, "args": []string{"stream"},
		}},
		"team": object{
			"name": "stream", "description": "A writer that streams lines.",
			"members": []object{
				{
					"name": "you", "displayName": "You", "role": "reader", "type": "human", "baseDir": ".",
					"systemInstruction": "",
				},
				{
					"name": "writer", "displayName": "Writer", "role": "author", "type": "ai", "agentType": "writer",
					"engine": "command", "baseDir": ".", "systemInstruction": "",
				},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(f.home(t), "team.json")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
