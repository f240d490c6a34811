//go:build unix

package main

import "path/filepath"

// reindexChore rebuilds the index and the checkpoints.
func reindexChore(k *killer) *chore {
	k.writeTeam()
	var ids []string
	for range 3 {
		ids = append(ids, k.session(3, 300))
	}
	k.run("compact", ids[0], "--keep", "0", "--archive-after", "0s")
	list, _ := k.run("sessions", "--all", "--output", "json")
	for _, pattern := range []string{"sessions.json", "*.checkpoint.json"} {
		k.remove(pattern)
	}
	c := newChore(k, "sessions", "reindex")
	c.check = func(finished bool) {
		k.t.Helper()
		if now, _ := k.run("sessions", "--all", "--output", "json"); now != list {
			k.t.Errorf("the list is\n%s\nwant\n%s", now, list)
		}
		if _, notices := k.run("verify"); notices != "" {
			k.t.Errorf("verify prints %s", notices)
		}
		for _, id := range ids {
			if finished {
				readFile(k.t, filepath.Join(k.teamDir(), id+".checkpoint.json"))
			}
		}
	}
	return c
}
