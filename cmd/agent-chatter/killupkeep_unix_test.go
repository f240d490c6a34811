//go:build unix

package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
)

// chore is a command on the sessions of a home that is killed before its end.
type chore struct {
	*killer
	args   []string
	before fs.FS               // the home before the command
	check  func(finished bool) // checks the home after a kill, or after a complete run

	took  time.Duration // of a complete run
	steps int           // observed changes of the home in a complete run
}

// newChore takes the current home as the state before the command.
func newChore(k *killer, args ...string) *chore {
	k.t.Helper()
	before := filepath.Join(k.dir, "before")
	if err := os.Rename(k.home(), before); err != nil {
		k.t.Fatal(err)
	}
	return &chore{killer: k, args: args, before: os.DirFS(before)}
}

// kill kills the command repeatedly, each time on the same home.
func (c *chore) kill() {
	c.t.Helper()
	c.rehearse()
	c.check(true)
	killed, begun := 0, 0
	rounds := max(1, *kills/3)
	for range rounds {
		c.restore()
		before := c.look()
		p := c.start(c.args...)
		c.aim()(p)
		if p.killed() {
			killed++
			if c.look() != before {
				begun++
			}
		}
		c.finish()
	}
	c.t.Logf("%d rounds, %d killed before the end, %d of these after the first change; a complete run takes %v and "+
		"makes %d observed changes",
		rounds, killed, begun, c.took.Round(time.Millisecond), c.steps)
	if *kills >= enoughKills && begun == 0 {
		c.t.Error("it was never killed after its first change")
	}
}

// finish checks what a kill has left, runs the command to its end, and checks again.
func (c *chore) finish() {
	c.t.Helper()
	c.check(false)
	c.run(c.args...)
	c.check(true)
	if c.t.Failed() {
		c.t.FailNow()
	}
}

// restore restores the home to the state before the command.
func (c *chore) restore() {
	c.t.Helper()
	if err := os.RemoveAll(c.home()); err != nil {
		c.t.Fatal(err)
	}
	if err := os.CopyFS(c.home(), c.before); err != nil {
		c.t.Fatal(err)
	}
}

// rehearse runs the command once to its end.
func (c *chore) rehearse() {
	c.t.Helper()
	c.restore()
	start := time.Now()
	p := c.start(c.args...)
	c.steps = max(1, c.awaitSteps(p, -1))
	p.ends(exitDone)
	c.took = time.Since(start)
}

// aim chooses when to kill: a random time, or a random step.
func (c *chore) aim() func(p *program) {
	if c.random.IntN(2) == 0 {
		pause := time.Duration(c.random.Int64N(int64(c.took)))
		return func(*program) { time.Sleep(pause) }
	}
	step := 1 + c.random.IntN(c.steps)
	return func(p *program) { c.awaitSteps(p, step) }
}

// awaitSteps waits until the home has changed that many times, or the program has
// exited, and returns the number of observed changes.
func (c *chore) awaitSteps(p *program, steps int) (seen int) {
	for last := c.look(); seen != steps && p.running(); {
		if now := c.look(); now != last {
			seen, last = seen+1, now
		}
	}
	return seen
}

// look returns the names and the sizes of all files in the home. Files that are
// created or removed meanwhile may be missing.
func (c *chore) look() string {
	var all strings.Builder
	filepath.WalkDir(c.home(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			fmt.Fprintf(&all, "%s %d\n", path, info.Size())
		}
		return nil
	})
	return all.String()
}

// teamDir is the directory of the sessions.
func (k *killer) teamDir() string { return filepath.Join(k.home(), "sessions", "kill") }

func (k *killer) journalPath(id string) string { return filepath.Join(k.teamDir(), id+".jsonl") }

// session creates a session of random messages of that many letters, and returns
// its id.
func (k *killer) session(messages, bytes int) string {
	k.t.Helper()
	var lines strings.Builder
	for range messages {
		lines.WriteString(letters(k.random, bytes) + " [NEXT: hugo]\n")
	}
	out, _ := k.runWith(lines.String(), "chat", "-t", "team.json", "--output", "json")
	created := objects[struct{ Data struct{ SessionID string } }](k.t, firstLines(out, 1))
	return created[0].Data.SessionID
}

// letters returns n letters that do not compress well.
func letters(random *rand.Rand, n int) string {
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(random.Uint32())
	}
	return base64.RawURLEncoding.EncodeToString(raw)[:n]
}

// wantListed checks that the list has these sessions, once each, and no other.
func (k *killer) wantListed(ids []string) map[string]sessionJSON {
	k.t.Helper()
	list := k.list()
	if got, want := slices.Sorted(maps.Keys(list)), slices.Sorted(slices.Values(ids)); !slices.Equal(got, want) {
		k.t.Errorf("the sessions are %q, want %q", got, want)
	}
	return list
}

// wantNo checks that no file in the home matches a pattern.
func (k *killer) wantNo(pattern ...string) {
	k.t.Helper()
	found, err := filepath.Glob(filepath.Join(append([]string{k.teamDir()}, pattern...)...))
	if err != nil || len(found) > 0 {
		k.t.Errorf("there is still %q, %v", found, err)
	}
}

// compactChore runs compact, which writes checkpoints and archives all sessions
// except the newest, one of them with a torn tail.
func compactChore(k *killer, bytes int) *chore {
	k.writeTeam()
	content := map[string]string{}
	var ids []string
	for range 4 {
		id := k.session(8, bytes)
		ids = append(ids, id)
		content[id] = readFile(k.t, k.journalPath(id))
	}
	torn, newest := ids[1], ids[3]
	if err := os.WriteFile(k.journalPath(torn), []byte(content[torn]+content[torn][:bytes/2+1]), 0o600); err != nil {
		k.t.Fatal(err)
	}
	k.write("home/config.json", `{"retention": {"auto": false, "keep": 1, "archiveAfter": "0s"}}`)
	for _, pattern := range []string{"sessions.json", "*.checkpoint.json"} {
		k.remove(pattern)
	}
	c := newChore(k, "compact")
	c.check = func(finished bool) {
		k.t.Helper()
		list := k.wantListed(ids)
		k.run("verify")
		for _, id := range ids {
			got, _ := k.run("replay", id, "--output", "events")
			rest, ok := strings.CutPrefix(got, content[id])
			recovered := id == torn && strings.Count(rest, "\n") == 1 &&
				strings.Contains(rest, `"type":"journal.recovered"`)
			if !ok || rest != "" && !recovered {
				k.t.Errorf("session %s has %d bytes of its %d, followed by %.200q", id, len(got)-len(rest),
					len(content[id]), rest)
			}
			if finished && list[id].Archived != (id != newest) {
				k.t.Errorf("session %s: archived %v", id, list[id].Archived)
			}
			if finished && id != newest {
				k.wantNo(id + ".jsonl")
			}
		}
		if finished {
			k.wantNo("*.jsonl.tmp")
			k.wantNo("archive", "*.tmp")
			readFile(k.t, filepath.Join(k.teamDir(), newest+".checkpoint.json"))
		}
	}
	return c
}

// remove removes files from the team's directory.
func (k *killer) remove(pattern string) {
	k.t.Helper()
	paths, err := filepath.Glob(filepath.Join(k.teamDir(), pattern))
	if err != nil {
		k.t.Fatal(err)
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			k.t.Fatal(err)
		}
	}
}

// repairChore repairs a journal that is damaged in two places.
func repairChore(k *killer, bytes int) *chore {
	k.writeTeam()
	sound, id := k.session(1, 300), k.session(30, bytes)
	was := readFile(k.t, k.journalPath(id))
	damaged := []byte(was)
	for _, at := range []int{len(was) / 3, len(was) / 2} {
		at += strings.IndexByte(was[at:], 'q')
		damaged[at] = 'Q'
	}
	if err := os.WriteFile(k.journalPath(id), damaged, 0o600); err != nil {
		k.t.Fatal(err)
	}
	var kept []string // the payloads after the repair, in order
	for i, line := range strings.SplitAfter(was, "\n") {
		if line != "" && strings.Contains(string(damaged), line) {
			kept = append(kept, line)
		} else if line != "" && i == 0 {
			k.t.Fatal("the first line is damaged")
		}
	}
	kept = payloads(k.t, kept)
	c := newChore(k, "repair", id)
	c.check = func(finished bool) {
		k.t.Helper()
		list := k.wantListed([]string{sound, id})
		now := readFile(k.t, k.journalPath(id))
		if !finished && now == string(damaged) {
			if !list[id].Damaged {
				k.t.Error("the list does not report the damage")
			}
			p := k.start("verify")
			p.ends(exitDamaged)
			return
		}
		k.run("verify")
		var repairs, rest []string
		var seals []int // line numbers
		lines := strings.SplitAfter(strings.TrimSuffix(now, "\n"), "\n")
		for i, line := range lines {
			switch {
			case strings.Contains(line, `"type":"journal.recovered"`):
				repairs = append(repairs, line)
			case strings.Contains(line, `"type":"journal.sealed"`):
				seals = append(seals, i+1)
			default:
				rest = append(rest, line)
			}
		}
		if !slices.Equal(seals, []int{len(lines)}) {
			k.t.Errorf("lines %d of %d are seals, want the last", seals, len(lines))
		}
		if got := payloads(k.t, rest); !slices.Equal(got, kept) {
			k.t.Errorf("%d events are kept, want %d", len(got), len(kept))
		}
		if len(repairs) != 2 {
			k.t.Errorf("the repair is recorded %d times", len(repairs))
		}
		for _, r := range objects[struct{ Data journal.Recovered }](k.t, strings.Join(repairs, "")) {
			if readFile(k.t, filepath.Join(k.teamDir(), r.Data.Aside)) != string(damaged) {
				k.t.Errorf("%s is not the damaged journal", r.Data.Aside)
			}
		}
		if finished {
			k.wantNo("*.jsonl.tmp")
		}
	}
	return c
}

// payloads returns the times, types and data of lines.
func payloads(t *testing.T, lines []string) (all []string) {
	t.Helper()
	for _, e := range objects[struct {
		Time, Type string
		Data       json.RawMessage
	}](t, strings.Join(lines, "")) {
		all = append(all, e.Time+" "+e.Type+" "+string(e.Data))
	}
	return all
}

// The effect of clean on a session.
const (
	staysLive    = "stays live"
	toTrash      = "moves to the trash"
	staysTrashed = "stays in the trash"
	toNothing    = "is deleted"
)

// cleanChore runs clean, which moves sessions to the trash or, with emptying,
// deletes n sessions from it.
func cleanChore(k *killer, n int, emptying bool) *chore {
	idle, trashed := toTrash, staysTrashed
	args := []string{"sessions", "clean", "--older-than", "7d"}
	if emptying {
		idle, trashed = staysLive, toNothing
		args = append(args, "--trash")
	}
	k.writeTeam()
	template := k.session(3, 20_000)
	fates := map[string]string{template: staysLive}
	copies := func(n int, age time.Duration, fate string) (ids []string) {
		for range n {
			id := template[:22] + fmt.Sprintf("%04d", len(fates))
			k.copySession(template, id, age)
			fates[id] = fate
			ids = append(ids, id)
		}
		return ids
	}
	const day = 24 * time.Hour
	copies(2, 0, staysLive)
	k.run("sessions", "pin", copies(1, 30*day, staysLive)[0])
	for _, id := range copies(n, 30*day, idle) {
		k.write(filepath.Join("home", "sessions", "kill", id+".aside-1"), "set aside from "+id)
	}
	copies(n, 100*day, idle)
	k.run("compact", "--archive-after", "60d", "--keep", "0")
	k.trash(copies(2, 40*day, staysTrashed), time.Now())
	k.trash(copies(n, 200*day, trashed), time.Now().Add(-90*day))

	content := map[string]string{}
	for id := range fates {
		content[id] = readFile(k.t, k.places(id)[0])
	}
	c := newChore(k, args...)
	c.check = func(finished bool) {
		k.t.Helper()
		var live []string
		for id, fate := range fates {
			places := k.places(id)
			inTrash := len(places) == 1 && filepath.Base(filepath.Dir(places[0])) == "trash"
			isLive := len(places) == 1 && !inTrash
			good := map[string]bool{
				staysLive:    isLive,
				toTrash:      inTrash || isLive && !finished,
				staysTrashed: inTrash,
				toNothing:    len(places) == 0 || inTrash && !finished,
			}
			if !good[fate] || len(places) == 1 && readFile(k.t, places[0]) != content[id] {
				k.t.Errorf("session %s, which %s, is in %q", id, fate, places)
			}
			if isLive {
				live = append(live, id)
			}
			if finished && fate == toNothing {
				k.wantNo("trash", id+".jsonl*")
				k.wantNo(id + "*")
			}
		}
		k.wantListed(live)
		k.run("verify")
		if finished {
			k.wantRestorable(fates)
		}
	}
	return c
}

// copySession writes a copy of a session with another id and earlier times. Its
// sums are correct.
func (k *killer) copySession(from, to string, age time.Duration) {
	k.t.Helper()
	var at journal.Position
	var lines strings.Builder
	for _, e := range objects[struct {
		Time time.Time
		Type string
		Data json.RawMessage
	}](k.t, readFile(k.t, k.journalPath(from))) {
		data := strings.ReplaceAll(string(e.Data), from, to)
		event, next, err := at.Next(journal.Record{Time: e.Time.Add(-age), Type: e.Type, Data: json.RawMessage(data)})
		if err != nil {
			k.t.Fatal(err)
		}
		at = next
		fmt.Fprintf(&lines, "%s\n", event.Line())
	}
	if err := os.WriteFile(k.journalPath(to), []byte(lines.String()), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// trash deletes sessions and sets the time of the deletion.
func (k *killer) trash(ids []string, since time.Time) {
	k.t.Helper()
	for _, id := range ids {
		k.run("sessions", "delete", "--yes", id)
		k.write(filepath.Join("home", "sessions", "kill", "trash", id+".trashed"),
			since.UTC().Format(time.RFC3339)+"\n")
	}
}

// places returns the journals of a session: live, in the archive and in the
// trash.
func (k *killer) places(id string) (all []string) {
	k.t.Helper()
	for _, pattern := range []string{id + ".jsonl", "archive/" + id + ".jsonl.zst", "trash/" + id + ".jsonl*"} {
		found, err := filepath.Glob(filepath.Join(k.teamDir(), pattern))
		if err != nil {
			k.t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// wantRestorable checks that sessions that clean has moved to the trash can be
// restored, with their aside files.
func (k *killer) wantRestorable(fates map[string]string) {
	k.t.Helper()
	before := len(k.list())
	restored := 0
	for id, fate := range fates {
		if fate != toTrash || k.random.IntN(4) > 0 {
			continue
		}
		k.run("sessions", "restore", id)
		restored++
		aside := filepath.Join(k.teamDir(), id+".aside-1")
		if strings.HasSuffix(k.places(id)[0], ".jsonl") && readFile(k.t, aside) != "set aside from "+id {
			k.t.Errorf("%s has changed", aside)
		}
	}
	k.run("verify")
	if after := len(k.list()); after != before+restored {
		k.t.Errorf("%d sessions and %d restored ones are %d", before, restored, after)
	}
}
