package sessioncopy_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A copy is sealed: a changed byte is damage of its line, whatever sync marks the
// original has. Only in the last line does it look like a torn write.
func TestFlipsInCopiesAreDamage(t *testing.T) {
	for name, copySession := range map[string]func(t *testing.T, dir *catalog.Dir) (id string){
		"fork": func(t *testing.T, dir *catalog.Dir) string { return mustFork(t, dir, id(1)) },
		"merge": func(t *testing.T, dir *catalog.Dir) string {
			b := mustFork(t, dir, id(1))
			say(t, dir, b, 20, "second", ">two")
			return mustMerge(t, dir, id(1), b)
		},
		"import": func(t *testing.T, dir *catalog.Dir) string {
			if err := dir.Delete(ctx, id(1)); err != nil {
				t.Fatal(err)
			}
			if _, err := importEvents(t, dir, "hello", "well", "more"); err != nil {
				t.Fatal(err)
			}
			return id(1)
		},
		"import that extends": func(t *testing.T, dir *catalog.Dir) string {
			if _, err := importEvents(t, dir, "hello", "well", "more", "and more"); err != nil {
				t.Fatal(err)
			}
			return id(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, dir := newTeam(t, journal.Options{})
			put(t, dir, id(1), conversation(id(1), "hello", "well")...)
			copied := copySession(t, dir)
			path := journalOf(dir, copied)
			sound := read(t, path)
			lines := bytes.Count(sound, []byte("\n"))
			random := rand.New(rand.NewPCG(15, 13))
			flips := 500
			if !sizetest.Full() {
				flips = 100
			}
			for range flips {
				damaged := bytes.Clone(sound)
				at := random.IntN(len(damaged))
				damaged[at] ^= byte(1 + random.IntN(255))
				write(t, path, damaged)
				line := bytes.Count(sound[:at], []byte("\n")) + 1
				_, loaded, err := dir.Load(ctx, copied)
				var corrupt *journal.CorruptError
				switch {
				case line == lines && err == nil && loaded.Torn.Bytes > 0:
				case line < lines && errors.As(err, &corrupt) && corrupt.Line == int64(line):
				default:
					t.Fatalf("a change in line %d of %d: %v, %+v", line, lines, err, loaded)
				}
			}
		})
	}
}
