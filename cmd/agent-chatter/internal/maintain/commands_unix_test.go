//go:build unix

package maintain

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/google/go-cmp/cmp"
)

// A shownHome is a home with sealed sessions, whose ids are A, B and so on in what a command prints.
type shownHome struct {
	t    *testing.T
	path string
	team *catalog.Dir
	ids  []string // the newest first
}

func newShownHome(t *testing.T, sessions int) *shownHome {
	t.Helper()
	h := &shownHome{t: t, path: t.TempDir()}
	t.Setenv("AGENT_CHATTER_HOME", h.path)
	root := filepath.Join(h.path, "sessions")
	var err error
	if h.ids, err = (catalogtest.Sessions{Count: sessions}).Fill(root); err != nil {
		t.Fatal(err)
	}
	h.team = catalog.New(root, journal.Options{}).Team("demo")
	for _, id := range h.ids {
		if _, err := h.team.Journals().Seal(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// journal returns the path of the journal of a session.
func (h *shownHome) journal(n int) string {
	return filepath.Join(h.team.Journals().Path(), h.ids[n]+".jsonl")
}

// rewrite changes the content of a journal.
func (h *shownHome) rewrite(n int, change func(content string) string) {
	h.t.Helper()
	data, err := os.ReadFile(h.journal(n))
	if err == nil {
		err = os.WriteFile(h.journal(n), []byte(change(string(data))), 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// damage changes the third line of a journal.
func (h *shownHome) damage(n int) {
	h.rewrite(n, func(content string) string {
		lines := strings.SplitAfter(content, "\n")
		lines[2] = strings.Replace(lines[2], "0", "1", 1)
		return strings.Join(lines, "")
	})
}

// unseal removes the last line of a journal: its sync mark.
func (h *shownHome) unseal(n int) {
	h.rewrite(n, func(content string) string {
		return content[:strings.LastIndex(strings.TrimSuffix(content, "\n"), "\n")+1]
	})
}

func (h *shownHome) append(n int, records ...journal.Record) {
	h.t.Helper()
	if err := h.team.Append(h.t.Context(), h.ids[n], records...); err != nil {
		h.t.Fatal(err)
	}
}

// A runner runs a command with a format of its output.
type runner = func(h *shownHome, a *app.App, output string) error

// run returns what a command prints, and its exit code: on a wide terminal without colour, or to pipes.
func (h *shownHome) run(command runner, output string, onTerminal bool) string {
	h.t.Helper()
	code := 0
	run := func(streams app.IO) {
		a, err := app.New(streams, app.Options{Home: h.path})
		if err != nil {
			h.t.Fatal(err)
		}
		code = a.Fail(command(h, a, output))
	}
	shown := ""
	if onTerminal {
		shown = apptest.OnTerminal(h.t, 1000, func(terminal *os.File) {
			run(app.IO{Stdout: terminal, Stderr: terminal, NoColor: true})
		})
	} else {
		var stdout, stderr strings.Builder
		run(app.IO{Stdout: &stdout, Stderr: &stderr})
		if shown = stdout.String(); stderr.Len() > 0 {
			shown += "- stderr -\n" + stderr.String()
		}
	}
	for _, m := range masks {
		shown = m.pattern.ReplaceAllString(shown, m.with)
	}
	shown = strings.ReplaceAll(shown, h.path, "HOME")
	for i, id := range h.ids {
		shown = strings.ReplaceAll(shown, id, string(rune('A'+i)))
	}
	return fmt.Sprintf("%s- exit code %d\n", shown, code)
}

// masks are what differs between runs: who has locked a session, and the sizes of archives and checkpoints.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`process \d+ on \S+, since [-0-9]+ [:0-9]+`), "process 4711 on desk, since 2026-11-21 12:00:00"},
	{regexp.MustCompile(`→ [0-9.]+ \S+`), "→ 1.8 KiB"}, {regexp.MustCompile(`[0-9.]+ \S+ added`), "2.0 KiB added"},
	{regexp.MustCompile(`-> \d+ bytes`), "-> 1800 bytes"}, {regexp.MustCompile(`"bytesAfter":\d+`), `"bytesAfter":1800`},
}

// A commandCase is a command and what its home is like.
type commandCase struct {
	name     string
	sessions int
	change   func(h *shownHome) // nil: nothing
	command  runner
}

// checkCommands compares what commands print on a terminal and to pipes, and their exit codes, with a golden file.
func checkCommands(t *testing.T, golden string, cases []commandCase) {
	t.Helper()
	var b strings.Builder
	for _, c := range cases {
		for _, to := range []struct {
			name, output string
			terminal     bool
		}{{"a terminal", "text", true}, {"a pipe", "text", false}, {"a pipe, as JSON", "json", false}} {
			h := newShownHome(t, c.sessions)
			if c.change != nil {
				c.change(h)
			}
			fmt.Fprintf(&b, "## %s, to %s\n%s\n", c.name, to.name, h.run(c.command, to.output, to.terminal))
		}
	}
	apptest.Golden(t, filepath.Join("testdata", golden), b.String())
}

func TestVerifyPrints(t *testing.T) {
	invalid := projection.Record(time.Unix(0, 0), projection.TurnStarted{})
	newer := journal.Record{Time: time.Unix(0, 0), Type: "turn.started", Data: []byte(`{"v":9,"turnId":"t"}`)}
	verify := func(_ *shownHome, a *app.App, output string) error { return (&Verify{Output: output}).Run(a) }
	tear := func(h *shownHome) { h.rewrite(0, func(s string) string { return s + `{"seq":` }) }
	checkCommands(t, "verify.golden", []commandCase{
		{"no sessions", 0, nil, verify},
		{"intact", 2, nil, verify},
		{"checksums", 1, nil, func(_ *shownHome, a *app.App, output string) error {
			return (&Verify{Chain: true, Output: output}).Run(a)
		}},
		{"damaged", 2, func(h *shownHome) { h.damage(1) }, verify},
		{"two damaged", 3, func(h *shownHome) { h.damage(1); h.damage(0) }, verify},
		{"archived and damaged", 1, func(h *shownHome) {
			if err := journaltest.Archive(t.Context(), h.team.Journals(), h.ids[0]); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(h.team.Journals().Path(), "archive", h.ids[0]+".jsonl.zst")
			if err := os.WriteFile(path, []byte("not an archive"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, verify},
		{"torn", 1, tear, verify},
		{"torn and invalid", 1, func(h *shownHome) { h.append(0, invalid); tear(h) }, verify},
		{"invalid", 1, func(h *shownHome) { h.append(0, invalid, invalid) }, verify},
		{"newer", 2, func(h *shownHome) { h.append(0, newer) }, verify},
		{"unsealed", 2, func(h *shownHome) { h.unseal(1) }, verify},
		{"unsealed and torn", 1, func(h *shownHome) { h.unseal(0); tear(h) }, verify},
		{"shrunk", 1, func(h *shownHome) {
			if _, err := h.team.List(t.Context(), catalog.Query{}); err != nil {
				t.Fatal(err)
			}
			h.unseal(0)
		}, verify},
		{"a wrong cache", 1, func(h *shownHome) {
			if _, err := h.team.List(t.Context(), catalog.Query{}); err != nil {
				t.Fatal(err)
			}
			index := filepath.Join(h.team.Journals().Path(), "sessions.json")
			data, err := os.ReadFile(index)
			if err == nil {
				wrong := strings.Replace(string(data), `"title":"`, `"title":"no `, 1)
				err = os.WriteFile(index, []byte(wrong), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, verify},
		{"without a header", 1, func(h *shownHome) {
			h.rewrite(0, func(string) string { return "" })
			h.append(0, newer)
		}, verify},
		{"other files", 1, func(h *shownHome) {
			dir := h.team.Journals().Path()
			if err := errors.Join(os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600),
				os.WriteFile(filepath.Join(dir, apptest.BobID+".jsonl"), []byte("{"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}, verify},
		{"an unknown session", 1, nil, func(_ *shownHome, a *app.App, output string) error {
			return (&Verify{ID: []string{"ada"}, Output: output}).Run(a)
		}},
	})
}

func TestRepairPrints(t *testing.T) {
	invalid := projection.Record(time.Unix(0, 0), projection.TurnStarted{})
	tear := func(h *shownHome) { h.rewrite(0, func(s string) string { return s + `{"seq":` }) }
	damage := func(h *shownHome) { h.damage(0) }
	twice := func(h *shownHome) {
		h.append(0, invalid)
		h.damage(0)
	}
	first := func(h *shownHome) {
		h.rewrite(0, func(s string) string { return strings.Replace(s, "session.created", "session.creates", 1) })
	}
	unseal := func(h *shownHome) { h.unseal(1) }
	repair := func(h *shownHome, a *app.App, output string) error {
		return (&Repair{ID: h.ids[:1], Output: output}).Run(a)
	}
	dryRun := func(h *shownHome, a *app.App, output string) error {
		return (&Repair{ID: h.ids[:1], DryRun: true, Output: output}).Run(a)
	}
	seal := func(_ *shownHome, a *app.App, output string) error {
		return (&Repair{Seal: true, Output: output}).Run(a)
	}
	checkCommands(t, "repair.golden", []commandCase{
		{"sound", 1, nil, repair},
		{"sound, a dry run", 1, nil, dryRun},
		{"torn", 1, tear, repair},
		{"torn, of a fork", 1, func(h *shownHome) {
			fork, err := sessioncopy.Fork(t.Context(), h.team, h.ids[0], 0)
			if err != nil {
				t.Fatal(err)
			}
			h.ids = append([]string{fork}, h.ids...)
			tear(h)
		}, repair},
		{"damaged", 1, damage, repair},
		{"damaged twice", 1, twice, repair},
		{"damaged twice, a dry run", 1, twice, dryRun},
		{"without its header", 1, first, repair},
		{"without an event", 1, func(h *shownHome) {
			if _, err := h.team.List(t.Context(), catalog.Query{}); err != nil {
				t.Fatal(err)
			}
			h.rewrite(0, func(string) string { return "not a journal\n" })
		}, repair},
		{"archived", 1, func(h *shownHome) {
			if err := journaltest.Archive(t.Context(), h.team.Journals(), h.ids[0]); err != nil {
				t.Fatal(err)
			}
		}, repair},
		{"seal none", 0, nil, seal},
		{"seal", 2, unseal, seal},
		{"seal, a dry run", 2, unseal, func(_ *shownHome, a *app.App, output string) error {
			return (&Repair{Seal: true, DryRun: true, Output: output}).Run(a)
		}},
		{"seal a torn one", 2, func(h *shownHome) { unseal(h); tear(h) }, seal},
		{"seal a damaged one", 2, func(h *shownHome) { unseal(h); damage(h) }, seal},
	})
}

func TestCompactPrints(t *testing.T) {
	none, atOnce, longAgo := 0, home.Days(0), home.Days(1)
	compact := func(cmd Compact) func(*shownHome, *app.App, string) error {
		return func(_ *shownHome, a *app.App, output string) error {
			cmd.Keep, cmd.Output = &none, output
			return cmd.Run(a)
		}
	}
	checkpoints := compact(Compact{})
	archive := compact(Compact{ArchiveAfter: &atOnce})
	checkCommands(t, "compact.golden", []commandCase{
		{"no sessions", 0, nil, checkpoints},
		{"checkpoints", 2, nil, checkpoints},
		{"checkpoints, a dry run", 2, nil, compact(Compact{DryRun: true})},
		{"nothing to do", 1, func(h *shownHome) { h.run(checkpoints, "text", false) }, checkpoints},
		{"archive", 2, nil, archive},
		{"archive, a dry run", 2, nil, compact(Compact{ArchiveAfter: &atOnce, DryRun: true})},
		{"trash", 2, nil, compact(Compact{DeleteAfter: &longAgo})},
		{"trash, a dry run", 1, nil, compact(Compact{DeleteAfter: &longAgo, DryRun: true})},
		{"damaged", 2, func(h *shownHome) { h.damage(0) }, archive},
		{"locked", 2, lock, archive},
		{"locked, a dry run", 2, lock, compact(Compact{ArchiveAfter: &atOnce, DryRun: true})},
		{"no space for the record", 1, func(h *shownHome) {
			if err := os.Mkdir(filepath.Join(h.team.Journals().Path(), "retention.jsonl"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, archive},
		{"a negative number", 1, nil, func(_ *shownHome, a *app.App, output string) error {
			minus := -1
			return (&Compact{Keep: &minus, Output: output}).Run(a)
		}},
	})
}

func TestDryRunOfCompactPrintsWhatARunPrints(t *testing.T) {
	none, atOnce, longAgo := 0, home.Days(0), home.Days(1)
	for name, cmd := range map[string]Compact{
		"checkpoints": {}, "archive": {ArchiveAfter: &atOnce}, "trash": {DeleteAfter: &longAgo},
	} {
		h := newShownHome(t, 4)
		h.run(func(h *shownHome, a *app.App, output string) error {
			return (&Compact{ID: h.ids[:1], Keep: &none, Output: output}).Run(a)
		}, "text", false) // it has a checkpoint
		h.damage(1)
		lock(h)
		compact := func(dryRun bool) string {
			cmd := cmd
			cmd.Keep, cmd.DryRun, cmd.Output = &none, dryRun, "text"
			var stdout, stderr strings.Builder
			a, err := app.New(app.IO{Stdout: &stdout, Stderr: &stderr}, app.Options{Home: h.path})
			if err == nil {
				err = cmd.Run(a)
			}
			if err != nil {
				t.Fatal(err)
			}
			end := strings.TrimSuffix(stderr.String(), " (--dry-run: nothing was changed)\n")
			return stdout.String() + strings.TrimSpace(strings.Replace(end, ", about ", ", ", 1))
		}
		preview := compact(true)
		if diff := cmp.Diff(preview, compact(false)); diff != "" {
			t.Errorf("%s: a run prints other things than a dry run (+):\n%s", name, diff)
		}
	}
}

func TestCleanPrints(t *testing.T) {
	none := 0
	clean := func(cmd Clean) func(*shownHome, *app.App, string) error {
		return func(_ *shownHome, a *app.App, output string) error {
			cmd := cmd
			if cmd.Output = output; !cmd.Trash {
				cmd.Keep = &none
			}
			return cmd.Run(a)
		}
	}
	trash := func(h *shownHome) {
		if err := h.team.Delete(t.Context(), h.ids[0]); err != nil {
			t.Fatal(err)
		}
	}
	checkCommands(t, "clean.golden", []commandCase{
		{"no sessions", 0, nil, clean(Clean{})},
		{"old sessions", 2, nil, clean(Clean{})},
		{"old sessions, a dry run", 2, nil, clean(Clean{DryRun: true})},
		{"locked", 2, lock, clean(Clean{})},
		{"locked, a dry run", 2, lock, clean(Clean{DryRun: true})},
		{"an empty trash", 2, nil, clean(Clean{Trash: true})},
		{"the trash", 2, trash, clean(Clean{Trash: true})},
		{"the trash, a dry run", 2, trash, clean(Clean{Trash: true, DryRun: true})},
		{"no criterion", 1, nil, func(_ *shownHome, a *app.App, output string) error { return (&Clean{Output: output}).Run(a) }},
	})
}

func TestReindexPrints(t *testing.T) {
	reindex := func(_ *shownHome, a *app.App, output string) error { return (&Reindex{Output: output}).Run(a) }
	checkCommands(t, "reindex.golden", []commandCase{
		{"no sessions", 0, nil, reindex},
		{"intact", 2, nil, reindex},
		{"damaged and archived", 2, func(h *shownHome) {
			h.damage(0)
			if err := journaltest.Archive(t.Context(), h.team.Journals(), h.ids[1]); err != nil {
				t.Fatal(err)
			}
		}, reindex},
		{"a team that cannot be read", 1, func(h *shownHome) {
			dir := filepath.Join(h.path, "sessions", "broken")
			if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "archive"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}, reindex},
	})
	f := reindexedFinding(catalog.Session{ID: "A", ReadErr: errors.New("input/output error")})
	want := app.Wrong("A  unreadable: input/output error", "", app.To("diagnose this", "doctor"))
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// lock locks the first session until the test ends.
func lock(h *shownHome) {
	log, err := h.team.Journals().Open(h.t.Context(), h.ids[0])
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { log.Close() })
}

func TestResultsOnATerminal(t *testing.T) {
	locked := cleanResult{ID: "A", Bytes: 2048}
	locked.skip("it is locked", app.To("wait", "tail"))
	read := compactResult{ID: "A", BytesBefore: 2048, BytesAfter: 1024}
	read.skip("it cannot be read", app.To("diagnose this", "doctor"))
	for _, tt := range []struct {
		got, want app.Finding
	}{
		{locked.finding(true), app.Note("A  skipped: it is locked", "", app.To("wait", "tail"))},
		{cleanResult{ID: "A", Action: "trashed", Bytes: 2048}.finding(false), app.Fine("A  moved to the trash, 2.0 KiB")},
		{cleanResult{ID: "A", Action: "deleted", Bytes: 1}.finding(true), app.Note("A  would be deleted, 1 byte", "")},
		{read.finding(false), app.Note("A  skipped: it cannot be read", "", app.To("diagnose this", "doctor"))},
		{compactResult{ID: "A", Action: "archived", BytesBefore: 2048, BytesAfter: 1024}.finding(false),
			app.Fine("A  archived, 2.0 KiB → 1.0 KiB")},
		{compactResult{ID: "A", Action: "checkpointed", CheckpointSeq: 7, BytesBefore: 1, BytesAfter: 1024}.finding(true),
			app.Note("A  would get a checkpoint at event 7, 1 byte → 1.0 KiB", "")},
		{compactResult{ID: "A", Action: "trashed", BytesBefore: 2048, BytesAfter: 1024}.finding(false),
			app.Fine("A  moved to the trash, 2.0 KiB")},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A verdict that no disk of a test has.
func TestVerdictsOnATerminal(t *testing.T) {
	s := catalog.Session{ID: apptest.AliceID}
	var b strings.Builder
	for _, v := range []verdict{
		{unreadable: true, Problem: "read " + apptest.Hostile + ": input/output error"},
		{Problem: "line 3 has 70000000 bytes", help: app.AllowText(70_000_000), Events: 2, Line: 3, Offset: 4711},
		{Problem: "its header is missing", sumsMatch: true, Events: 1},
		{Problem: "its header is missing", sumsMatch: true},
		{OK: true, Events: 7, shrunk: true, WithoutSyncMark: 2, torn: journal.Torn{Bytes: 90, Offset: 10, FirstSeq: 8, LastSeq: 9}},
	} {
		v.ID = s.ID
		f := v.finding(v.helpFor(s, nil))
		fmt.Fprintf(&b, "%s: %s\n%s\n", f.State, f.What, (&app.App{}).Resolve(f).Help)
	}
	apptest.Golden(t, filepath.Join("testdata", "verdicts.golden"), b.String())
}
