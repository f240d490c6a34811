package main

import (
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// What doctor finds.
const (
	textNotShared   = "no other machine shares the files, as far as this one knows"
	textLocksHold   = "they hold; one that a crashed program has left holds nobody up"
	textNoConfig    = "there is none, and none is needed"
	textConfig      = "it is valid"
	textNoSessions  = "there are none yet"
	textNoLeftovers = "there are no unfinished files"
	textNoTrash     = "it is empty"
	textMakeRoom    = "To archive what is old, type: agent-chatter compact\nTo see what could be deleted, type: agent-chatter sessions clean --dry-run"
)

func wrongText(n int) string {
	if n == 1 {
		return "1 thing is wrong."
	}
	return fmt.Sprintf("%d things are wrong.", n)
}

func homeText(home string) finding { return fine(safeLine(home)) }

func homeToComeText(home string) finding {
	return note(safeLine(home)+" does not exist yet; nothing was written to try it out", "The first message of a chat makes it.")
}

func homeWrongText(err error) finding {
	return wrong(sentence(err), "Check who may read and write there, or name another place with --home DIR.")
}

func sharedText(dir, kind string) finding {
	return note(fmt.Sprintf("%s may be shared over a network (%s): locks may not hold between machines", safeLine(dir), safeLine(kind)),
		"Talk in a session on one machine at a time, or keep the sessions on a disk of this machine with --home DIR.")
}

func privateText() finding { return fine("what is there is yours, and only you can read it") }

// openText says who else gets at so many files, one of which is named.
func openText(home string, n int, who, path string, mode fs.FileMode) finding {
	return wrong(fmt.Sprintf("%s open to %s, such as %s (%04o)", areFiles(n), who, safeLine(path), mode.Perm()),
		"To close them, type: chmod -R go= "+hint.Quote(home))
}

// hiddenText is openText where nobody gets to the files.
func hiddenText(home string, n int, path string, mode fs.FileMode) finding {
	return note(fmt.Sprintf("nobody else gets in, but %s would be open if the home were, such as %s (%04o)", files(n), safeLine(path), mode.Perm()),
		"To close them, type: chmod -R go= "+hint.Quote(home))
}

func foreignText(home string, n, owner int, path string) finding {
	return wrong(fmt.Sprintf("%s not yours, such as %s, of user %d", areFiles(n), safeLine(path), owner),
		"To make them yours, type: sudo chown -R $(id -u) "+hint.Quote(home))
}

func closedText(home string, n int, path string, mode fs.FileMode) finding {
	return wrong(fmt.Sprintf("%s closed to yourself, such as %s (%04o)", areFiles(n), safeLine(path), mode.Perm()),
		"To open them, type: chmod -R u+rwX "+hint.Quote(home))
}

func files(n int) string {
	if n == 1 {
		return "1 file or directory"
	}
	return fmt.Sprintf("%d files and directories", n)
}

func areFiles(n int) string {
	if n == 1 {
		return files(n) + " is"
	}
	return files(n) + " are"
}

func unreadableText(err error) finding {
	return wrong(sentence(err), "Check who may read it, and whether the disk is sound.")
}

func noLockText(err error) finding {
	return wrong("no lock can be taken, so that nothing can be saved: "+safeLine(err.Error()),
		"Keep the sessions on a disk that can lock, with --home DIR.")
}

func lockTwiceText(home string) finding {
	return wrong("a lock can be taken twice, so that two programs may write to one session",
		fmt.Sprintf("Talk in a session of %s in one program at a time, or keep the sessions elsewhere with --home DIR.", safeLine(home)))
}

func diskWrongText(err error) finding {
	help := strings.TrimPrefix(remedy(err), "\n")
	if help == "" {
		help = "Nothing can be saved there. Check the disk, or name another place with --home DIR."
	}
	return wrong("a file cannot be written, synced, renamed and removed: "+safeLine(err.Error()), help)
}

func diskText(caseMatters bool) finding {
	if caseMatters {
		return fine("files are written, synced and renamed; case matters in their names")
	}
	return fine("files are written, synced and renamed; case does not matter in their names, and no two teams share a directory all the same")
}

// spaceText says how much is left.
func spaceText(bytes, inodes uint64) string {
	left := bytesText(bytes) + " are free"
	if inodes != math.MaxUint64 {
		left += fmt.Sprintf(", and %d inodes", inodes)
	}
	return left
}

func noSpaceText(err error) finding {
	return note("how much is free is not known: "+safeLine(err.Error()), "")
}

// bytesText is a number of bytes as people read it.
func bytesText(n uint64) string {
	if n < 1<<10 {
		return count(int(n), "byte")
	}
	size, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		if size /= 1 << 10; size < 1<<10 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}

func watchesText(instances, watches usage) finding {
	return fine(fmt.Sprintf("%d of %d inotify instances and %d of %d watches are used", instances.used, instances.limit, watches.used, watches.limit))
}

func fewWatchesText(instances, watches usage) finding {
	return note(watchesText(instances, watches).What+"; without them tail -f looks four times a second instead of being woken",
		fmt.Sprintf("To have more, type: sudo sysctl fs.inotify.max_user_instances=%d fs.inotify.max_user_watches=%d", 2*instances.limit, 2*watches.limit))
}

func configWrongText(err error) finding {
	return wrong(sentence(err), textCorrectConfig)
}

func registryWrongText(err error) finding {
	return wrong(sentence(err), "Correct it, or move it away: then no agent is registered.")
}

func sessionsText(dir string, n int) finding {
	return finding{State: stateOK, What: fmt.Sprintf("%s in %s", count(n, "session"), safeLine(dir)), Help: "To check every line, type: agent-chatter verify"}
}

func damagedText(s catalog.Session) finding {
	return wrong(fmt.Sprintf("session %s is damaged: %s", s.ID, safeLine(s.Damaged)), damageHelp(s, nil))
}

func leftoversText(home string, n int, bytes int64) finding {
	return note(fmt.Sprintf("%s that a crash has left (%s); nobody reads them", count(n, "unfinished file"), bytesText(uint64(bytes))),
		fmt.Sprintf("To remove them, when no agent-chatter is running, type: find %s -name '*.tmp' -type f -delete", hint.Quote(home)))
}

func trashText(n int, bytes int64) finding {
	return finding{State: stateOK, What: fmt.Sprintf("%s (%s)", count(n, "session"), bytesText(uint64(bytes))), Help: "To see what would be removed from it, and what would come into it, type: agent-chatter sessions clean --dry-run"}
}

func agentsText(n int) finding {
	return fine(fmt.Sprintf("%s for all teams; the demo team needs no program", count(n, "registered agent")))
}

func noProgramText(home string, missing team.Agent, err error) finding {
	return wrong(fmt.Sprintf("the agent %s cannot be run: %s", safeLine(missing.Name), safeLine(err.Error())),
		fmt.Sprintf("Install %s, or correct its command in %s", safeLine(missing.Command), safeLine(filepath.Join(home, "agents", "config.json"))))
}
