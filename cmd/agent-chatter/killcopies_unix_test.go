//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// importChore imports a bundle; one of its sessions is written in several
// batches.
func importChore(k *killer, bytes int) *chore {
	k.writeTeam()
	want := map[string][]string{}
	for _, size := range []int{100, bytes} {
		id := k.session(3, size)
		want[id] = k.said(id)
	}
	k.run("sessions", "export", "--all", "--format", "bundle", "-o", "all.bundle")
	if err := os.RemoveAll(filepath.Join(k.home(), "sessions")); err != nil {
		k.t.Fatal(err)
	}
	c := newChore(k, "sessions", "import", "all.bundle")
	c.check = func(finished bool) {
		k.t.Helper()
		list := k.list()
		for id := range list {
			k.wantBeginning("session "+id, want[id], k.said(id), finished)
		}
		if finished && len(list) != len(want) {
			k.t.Errorf("%d sessions are imported, want %d", len(list), len(want))
		}
		k.run("verify")
	}
	return c
}

// forkChore forks a session of several batches.
func forkChore(k *killer, bytes int) *chore {
	k.writeTeam()
	id := k.session(3, bytes)
	return k.copyChore("sessions", "fork", id)
}

// mergeChore merges two diverged sessions.
func mergeChore(k *killer, bytes int) *chore {
	k.writeTeam()
	a := k.session(2, bytes)
	out, _ := k.run("sessions", "fork", a)
	b := strings.TrimSpace(out)
	for _, id := range []string{b, a} {
		k.runWith(letters(k.random, 300)+" [NEXT: hugo]\n", "chat", "-t", "team.json", "--resume", id)
	}
	return k.copyChore("sessions", "merge", a, b)
}

// copyChore is a command that creates a session from existing ones.
func (k *killer) copyChore(args ...string) *chore {
	k.t.Helper()
	before := map[string][]string{}
	for id := range k.list() {
		before[id] = k.said(id)
	}
	c := newChore(k, args...)
	c.restore()
	out, _ := k.run(args...)
	want := k.said(strings.TrimSpace(out))
	c.check = func(finished bool) {
		k.t.Helper()
		whole := 0
		for id := range k.list() {
			said := k.said(id)
			if was, old := before[id]; old {
				k.wantBeginning("session "+id, was, said, true)
				continue
			}
			k.wantBeginning("the copy", want, said, false)
			if slices.Equal(said, want) {
				whole++
			}
		}
		if finished && whole == 0 {
			k.t.Error("the copy is missing")
		}
		k.run("verify")
	}
	return c
}

// said returns the messages of a session.
func (k *killer) said(id string) (all []string) {
	k.t.Helper()
	out, _ := k.run("replay", id, "--output", "json")
	for _, m := range objects[struct{ Content string }](k.t, out) {
		all = append(all, m.Content)
	}
	return all
}

// wantBeginning checks that got is a prefix of all and, with whole, that it is all of it.
func (k *killer) wantBeginning(what string, all, got []string, whole bool) {
	k.t.Helper()
	if len(got) > len(all) || !slices.Equal(got, all[:len(got)]) || whole && len(got) < len(all) {
		k.t.Errorf("%s has %d messages; want a prefix of %d, all of them: %v", what, len(got), len(all), whole)
	}
}

func killCopies(t *testing.T, newKiller func(*testing.T, uint64) *killer, bytes int, kill func(*chore)) {
	t.Run("import", func(t *testing.T) { kill(importChore(newKiller(t, 4), bytes)) })
	t.Run("fork", func(t *testing.T) { kill(forkChore(newKiller(t, 5), bytes)) })
	t.Run("merge", func(t *testing.T) { kill(mergeChore(newKiller(t, 6), bytes)) })
}
