package workspace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

var (
	noEntry objects.Entry
	epoch   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// fileOf returns the entry of a file.
func fileOf(content string) objects.Entry {
	return objects.Entry{
		Mode: objects.ModeFile | 0o644, Hash: objects.HashOf([]byte(content)), Size: int64(len(content)),
	}
}

// linkTo returns the entry of a link.
func linkTo(text string) objects.Entry {
	return objects.Entry{Mode: objects.ModeLink, Hash: objects.HashOf([]byte(text)), Size: int64(len(text))}
}

// numbered returns a turn that lasts from the minute of its number to the next one.
func numbered(n int) *Turn {
	started := epoch.Add(time.Duration(n) * time.Minute)
	return &Turn{Name: fmt.Sprintf("turn %d", n), Started: started, Ended: started.Add(time.Minute)}
}

// change returns a span with one change.
func change(turn *Turn, path string, before, after objects.Entry) Span {
	return Span{Turn: turn, Changes: []objects.Change{{Path: path, Before: before, After: after}}}
}

func TestPlan(t *testing.T) {
	late, shared := numbered(12), numbered(12)
	late.Late, shared.Shared = true, true
	a, b, c := fileOf("a"), fileOf("b"), fileOf("c")
	agent := func(path string, before, after objects.Entry) Span { return change(numbered(12), path, before, after) }
	you := func(path string, before, after objects.Entry) Span { return change(nil, path, before, after) }
	git, mixed := objects.GitEntry("100644", "1"), agent("x", a, b)
	mixed.Mixed = true
	for _, test := range []struct {
		name    string
		history []Span
		o       PlanOptions
		changed map[string]time.Time // nil: every file changed in turn 12
		want    string
		force   string // the plan with Force; "": the same
	}{
		{name: "nothing changed", history: []Span{agent("x", a, b), change(numbered(13), "x", b, a)}, want: ""},
		{name: "no turn changed it", history: []Span{you("x", a, b)}, want: "keep x: no turn changed it"},
		{name: "no turn changed it, created", history: []Span{you("x", noEntry, b)}, want: "keep x: no turn changed it"},
		{name: "no turn changed it, deleted", history: []Span{you("x", a, noEntry)}, want: "keep x: no turn changed it"},
		{name: "an agent changed it", history: []Span{agent("x", a, b)}, want: "write x"},
		{name: "an agent changed its mode", history: []Span{
			agent("x", a, objects.Entry{Mode: objects.ModeFile | 0o755, Hash: a.Hash, Size: a.Size}),
		}, want: "write x"},
		{name: "an agent made it a link", history: []Span{agent("x", a, linkTo("y"))}, want: "write x"},
		{name: "two turns changed it", history: []Span{agent("x", a, b), change(numbered(13), "x", b, c)}, want: "write x"},
		{name: "an agent deleted it", history: []Span{agent("x", a, noEntry)}, want: "create x"},
		{name: "an agent created it", history: []Span{agent("x", noEntry, a)}, want: "remove x"},
		{name: "an agent created a link", history: []Span{agent("x", noEntry, linkTo("y"))}, want: "remove x"},
		{
			name: "it was ignored", history: []Span{agent("x", noEntry, a)},
			changed: map[string]time.Time{"x": epoch.Add(11 * time.Minute)},
			want:    "keep x: it was there before turn 12",
		},
		{
			name: "it was in a directory that was moved", history: []Span{{Turn: numbered(12), Changes: []objects.Change{
				{Path: "from/x", Before: a}, {Path: "to/x", After: a}, {Path: "to/y", After: a},
			}}},
			changed: map[string]time.Time{"to/x": epoch, "to/y": epoch},
			want:    "remove to/x, create from/x, keep to/y: it was there before turn 12",
		},
		{
			name: "it was created with the turn's start", history: []Span{agent("x", noEntry, a)},
			changed: map[string]time.Time{"x": numbered(12).Started.Add(-clockTick)},
			want:    "remove x",
		},
		{
			name: "it was created and cannot be examined", history: []Span{agent("x", noEntry, a)},
			changed: map[string]time.Time{},
			want:    "keep x: it cannot be examined",
		},
		{
			name: "a person changed it after the turn", history: []Span{agent("x", a, b), you("x", b, c)},
			want: "keep x: you changed it after turn 12", force: "write x",
		},
		{
			name: "a person changed it before the turn", history: []Span{you("x", a, b), agent("x", b, c)},
			want: "keep x: you changed it before turn 12", force: "write x",
		},
		{
			name:    "a person changed it between turns",
			history: []Span{agent("x", a, b), you("x", b, c), change(numbered(13), "x", c, noEntry)},
			want:    "keep x: you changed it after turn 12", force: "create x",
		},
		{
			name: "a person created it again", history: []Span{agent("x", noEntry, a), you("x", a, b)},
			want: "keep x: you changed it after turn 12", force: "remove x",
		},
		{
			name: "a person deleted it", history: []Span{agent("x", a, b), you("x", b, noEntry)},
			want: "keep x: you deleted it after turn 12", force: "create x",
		},
		{
			name: "the turn is late", history: []Span{change(late, "x", a, b)},
			want: "keep x: turn 12 was interrupted, so its author is unknown", force: "write x",
		},
		{
			name: "another turn overlapped", history: []Span{change(shared, "x", a, b)},
			want: "keep x: another turn overlapped turn 12", force: "write x",
		},
		{
			name: "skipped then", history: []Span{agent("x", noEntry, a)},
			o: PlanOptions{SkippedThen: []Skipped{{"x", "2 GB"}}}, want: "keep x: not captured then: 2 GB",
		},
		{
			name: "directory skipped then", history: []Span{agent("d/x", noEntry, a), agent("dx", noEntry, a)},
			o: PlanOptions{SkippedThen: []Skipped{{"d", "too deep"}}}, want: "remove dx, keep d/x: not captured then: too deep",
		},
		{
			name: "skipped now", history: []Span{agent("x", a, noEntry)},
			o:    PlanOptions{SkippedNow: []Skipped{{"x", "a pipe"}}},
			want: "keep x: not captured now, so it could not be undone: a pipe",
		},
		{
			name: "Git had it", history: []Span{agent("x", git, a)},
			want: "keep x: not captured then: it was as Git had it",
		},
		{
			name: "Git has it", history: []Span{agent("x", a, git)},
			want: "keep x: not captured now, so it could not be undone: it is as Git has it",
		},
		{
			name: "an agent created and committed it", history: []Span{agent("x", noEntry, git)},
			want: "keep x: not captured now, so it could not be undone: it is as Git has it",
		},
		{
			name: "Git had it in between", history: []Span{agent("x", a, git), change(numbered(13), "x", git, b)},
			want: "keep x: it was not captured in between, so its author is unknown", force: "write x",
		},
		{
			name: "not all files were captured from then on", history: []Span{mixed},
			want:  "keep x: its author is unknown, since not all files were captured from then on, or until then",
			force: "write x",
		},
		{
			name:    "its parent is a link of a person",
			history: []Span{agent("d/x", a, noEntry), you("d", noEntry, linkTo("e"))},
			want:    "keep d: no turn changed it, keep d/x: its parent d is no directory",
		},
		{
			name:    "a file of an agent replaced its parent",
			history: []Span{agent("d/x", a, noEntry), agent("d", noEntry, b)},
			want:    "remove d, create d/x",
		},
		{
			name:    "a directory of an agent replaced it",
			history: []Span{agent("d", a, noEntry), agent("d/e/x", noEntry, b)},
			want:    "remove d/e/x, rmdir d/e, create d",
		},
		{
			name:    "a directory with a person's file replaced it",
			history: []Span{agent("d", a, noEntry), agent("d/x", noEntry, b), you("d/y", noEntry, b)},
			want:    "remove d/x, keep d: it is a directory with d/y, keep d/y: no turn changed it",
		},
		{
			name: "the order", history: []Span{{Turn: numbered(12), Changes: []objects.Change{
				{Path: "a", After: a}, {Path: "b/c/d", After: a}, {Path: "b/e", After: a}, {Path: "f", Before: a},
				{Path: "b/c/g", Before: a, After: b},
			}}}, want: "remove b/c/d, remove b/e, remove a, write b/c/g, create f",
		},
		{
			name: "chosen paths", history: []Span{agent("a", a, b), agent("ab", a, b), agent("c/d", a, b), agent("c/e", a, b)},
			o: PlanOptions{Paths: []string{"a", "c"}}, want: "write a, write c/d, write c/e",
		},
		{
			name: "names that the file system folds", history: []Span{agent("File", a, b), agent("file", a, c)},
			o: PlanOptions{FoldsCase: true},
			want: "keep File: this file system cannot have it beside file, " +
				"keep file: this file system cannot have it beside File",
		},
		{
			name: "a name in another case", history: []Span{agent("File", a, noEntry), agent("file", noEntry, a)},
			o: PlanOptions{FoldsCase: true}, want: "remove file, create File",
		},
		{
			name: "names that differ in case", history: []Span{agent("File", a, b), agent("file", a, c)},
			want: "write File, write file",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.o.Times = func(path string) (Times, bool) {
				if test.changed == nil {
					return Times{Changed: numbered(12).Ended}, true
				}
				changed, ok := test.changed[path]
				return Times{Changed: changed}, ok
			}
			if test.force == "" {
				test.force = test.want
			}
			if test.o.Paths == nil {
				test.o.Paths = []string{"."}
			}
			if got := describe(NewPlan(test.history, test.o)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			test.o.Force = true
			if got := describe(NewPlan(test.history, test.o)); got != test.force {
				t.Errorf("with force: got  %s\nwant %s", got, test.force)
			}
		})
	}
}

// describe returns a plan in one line.
func describe(p Plan) string {
	var parts []string
	for _, step := range p.Removals {
		parts = append(parts, "remove "+step.Path)
	}
	for _, dir := range p.Dirs {
		parts = append(parts, "rmdir "+dir)
	}
	for _, step := range p.Writes {
		if step.Present.IsZero() {
			parts = append(parts, "create "+step.Path)
		} else {
			parts = append(parts, "write "+step.Path)
		}
	}
	for _, kept := range p.Kept {
		parts = append(parts, "keep "+kept.Path+": "+kept.Why)
	}
	return strings.Join(parts, ", ")
}

func TestPlanRemovesDirectoriesMadeInATurn(t *testing.T) {
	turn := numbered(12)
	born := map[string]time.Time{
		"new":       turn.Started,
		"new/deep":  turn.Ended,
		"needed":    turn.Ended,
		"old":       turn.Started.Add(-time.Hour),
		"later":     turn.Ended.Add(time.Second),
		"unknown":   {},
		"new/empty": turn.Ended, // the turn has no file there
	}
	var span Span
	for _, path := range []string{"new/deep/x", "needed/x", "old/x", "later/x", "unknown/x"} {
		span.Changes = append(span.Changes, objects.Change{Path: path, After: fileOf("x")})
	}
	span.Turn = turn
	span.Changes = append(span.Changes, objects.Change{Path: "needed/y", Before: fileOf("y")})
	plan := NewPlan([]Span{span}, PlanOptions{Times: func(path string) (Times, bool) {
		return Times{Changed: turn.Ended, Born: born[path]}, true
	}})
	if want := []string{"new/deep", "new"}; !slices.Equal(plan.Dirs, want) {
		t.Errorf("got %q, want %q", plan.Dirs, want)
	}
}

func TestSplitRestore(t *testing.T) {
	restore := &Turn{Name: "restore"}
	a, b := fileOf("a"), fileOf("b")
	target := map[string]objects.Entry{"done": a, "removed": noEntry, "edited": a}
	spans := SplitRestore(restore, []objects.Change{
		{Path: "done", Before: b, After: a}, {Path: "removed", Before: a}, {Path: "edited", Before: a, After: b},
	}, func(path string) objects.Entry { return target[path] })
	var got []string
	for _, span := range spans {
		for _, c := range span.Changes {
			got = append(got, fmt.Sprintf("%s by a restore: %t", c.Path, span.Turn == restore))
		}
	}
	want := []string{"done by a restore: true", "removed by a restore: true", "edited by a restore: false"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHistory(t *testing.T) {
	store := objects.Open(vfs.OS, t.TempDir())
	n := 0
	captured := func(files map[string]string) (root objects.Hash) {
		n++
		must(t, store.Write(fmt.Sprintf("capture-%d", n), func(w *objects.Writer) error {
			var list []objects.File
			for name, content := range files {
				if _, err := w.Put([]byte(content)); err != nil {
					return err
				}
				list = append(list, objects.File{Path: name, Entry: fileOf(content)})
			}
			var err error
			root, err = objects.Tree(list, w.Put)
			return err
		}))
		return root
	}
	target := captured(map[string]string{"a": "1", "d/b": "1"})
	before := captured(map[string]string{"a": "1", "d/b": "you"})
	after := captured(map[string]string{"d/b": "you", "c": "ada"})
	present := captured(map[string]string{"d/b": "you", "c": "you"})
	turn := TurnTrees{Turn: *numbered(12), Before: before, After: after}
	history, err := History(store, target, []TurnTrees{turn}, present)
	must(t, err)
	want := []Span{
		change(nil, "d/b", fileOf("1"), fileOf("you")),
		{Turn: numbered(12), Changes: []objects.Change{
			{Path: "a", Before: fileOf("1")}, {Path: "c", After: fileOf("ada")},
		}},
		change(nil, "c", fileOf("ada"), fileOf("you")),
	}
	if diff := cmp.Diff(want, history); diff != "" {
		t.Error(diff)
	}
	var missing *objects.MissingError
	if _, err := History(store, objects.Hash{1}, []TurnTrees{turn}, present); !errors.As(err, &missing) {
		t.Errorf("without the target: %v", err)
	}
}
