package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// spoken returns the messages of the latest session, as replay prints them.
func spoken(t *testing.T, home string) (messages []string) {
	t.Helper()
	stdout, _ := do(t, home, exitDone, "replay", "latest", "--output", "json")
	for line := range strings.Lines(stdout) {
		var m struct {
			Content string
			Speaker struct{ Name string }
			Partial bool
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if !m.Partial {
			messages = append(messages, m.Speaker.Name+": "+m.Content)
		}
	}
	return messages
}

// dialogue returns the messages of a chat in which ada answers each message with a reply.
func dialogue(reply string, messages ...string) (all []string) {
	for _, m := range messages {
		all = append(all, "hugo: "+m, "ada: "+reply)
	}
	return all
}

// checkSpoken checks that the only session has these messages, each once and in
// order, in replay and in the list, and that its journal is sound.
func checkSpoken(t *testing.T, home string, want []string) {
	t.Helper()
	if got := spoken(t, home); !slices.Equal(got, want) {
		t.Errorf("the session has %d messages, want %d:\n%.2000q\nwant\n%.2000q", len(got), len(want), got, want)
	}
	stdout, stderr := do(t, home, exitDone, "verify")
	unsealed := strings.Contains(stderr, "1 session without a sync mark at the end") // the disk failed
	if strings.Count(stdout, "  ok  ") != 1 || stderr != "" && !unsealed {
		t.Errorf("verify prints %s%s", stdout, stderr)
	}
	stdout, _ = do(t, home, exitDone, "sessions", "--output", "json")
	var row struct{ MessageCount int }
	if err := json.Unmarshal([]byte(stdout), &row); err != nil || row.MessageCount != len(want) {
		t.Errorf("sessions counts %d messages, want %d: %v", row.MessageCount, len(want), err)
	}
}

// recoveries counts the recoveries that the latest session records.
func recoveries(t *testing.T, home string) int {
	t.Helper()
	stdout, _ := do(t, home, exitDone, "replay", "latest", "--output", "events")
	return strings.Count(stdout, `"type":"journal.recovered"`)
}

// contents returns the files below a directory, without the log, locks and caches.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err != nil || entry.IsDir() || strings.HasSuffix(name, ".lock") || name == "agent-chatter.log" ||
			strings.HasPrefix(name, "sessions.json") || strings.Contains(name, ".checkpoint.json") {
			return err
		}
		content, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// reply sets the reply of the team capture to that many bytes and a marker. It
// returns the reply without the marker.
func reply(t *testing.T, size int) string {
	said := strings.TrimRight(strings.Repeat("all right ", size/10+1)[:size], " ")
	t.Setenv("REPLY", said+" [NEXT: hugo]")
	return said
}

// asks types a message on a terminal and waits for the texts and then for the
// next prompt.
func (p *program) asks(message string, texts ...string) {
	p.t.Helper()
	p.typeLine(message)
	for _, text := range texts {
		p.expect(text)
	}
	p.expect("hugo> ")
}

func TestChatSavesAgainAfterFullDisk(t *testing.T) {
	for _, c := range []struct {
		size int   // of each reply
		free int64 // on the full disk
	}{{3_000, 0}, {20_000, 0}, {20_000, 9000}, {100_000, 40_000}} {
		t.Run(fmt.Sprintf("replies of %d bytes, %d free", c.size, c.free), func(t *testing.T) {
			d := newDisk(t)
			said := reply(t, c.size)
			chat := startOnTerminal(t, d.home(), "chat", "-t", teamPath("capture.json"))
			chat.expect("hugo> ")
			chat.asks("one", "Ada")
			saved := spoken(t, d.home())

			d.fill(c.free)
			for _, message := range []string{"two", "three", "four"} {
				chat.asks(message, textNotSaved)
				chat.asks("/queue", textNotSaved)
				// Readers read what is saved.
				do(t, d.home(), exitDone, "verify")
				if got := spoken(t, d.home()); len(got) < 2 || !slices.Equal(got[:2], saved) || len(got) > 3 {
					t.Errorf("on the full disk the session has %.500q", got)
				}
			}
			d.makeRoom()
			chat.asks("five", "✓ Everything is saved again.", "Ada")
			chat.asks("/queue")
			chat.asks("six", "Ada")
			chat.press(ctrlC + ctrlC)
			chat.ends(exitDone)
			shown := strings.ReplaceAll(chat.stdout.String(), "\r\r\n", "\r\n")
			if n := strings.Count(shown, textNotSaved); n != 6 {
				t.Errorf("%d prompts report that nothing is saved, want 6:\n%s", n, shown)
			}
			for _, text := range []string{"Failed to save session: ",
				"no space left on device\r\nThe disk is full: "} {
				if n := strings.Count(shown, text); n != 3 {
					t.Errorf("%q appears %d times, want once for each message:\n%s", text, n, shown)
				}
			}
			checkSpoken(t, d.home(), dialogue(said, "one", "two", "three", "four", "five", "six"))
			if n := strings.Count(shown, "\nAda\r"); n != 6 {
				t.Errorf("%d replies are shown, want 6:\n%s", n, shown)
			}
			// 0 or 1: a partial page may be written or not
			reported := strings.Count(shown, "Completed a line of which only ")
			if n := recoveries(t, d.home()); n != reported || n > 1 || c.free > 0 && n == 0 {
				t.Errorf("%d events record the failure, and %d were reported", n, reported)
			}
			if asides, _ := filepath.Glob(filepath.Join(d.home(), "sessions", "*", "*.aside-*")); len(asides) > 0 {
				t.Errorf("there are aside files: %q", asides)
			}
		})
	}
}

func TestChatOnFullDiskFromFirstMessage(t *testing.T) {
	for _, existing := range []bool{false, true} {
		t.Run(fmt.Sprintf("the team has a directory: %v", existing), func(t *testing.T) {
			d := newDisk(t)
			said := reply(t, 300)
			if existing {
				do(t, d.home(), exitDone, "chat", "-t", teamPath("capture.json"), "-m", "before")
				do(t, d.home(), exitDone, "sessions", "delete", "latest", "--yes")
			}
			d.fill(0)
			chat := startOnTerminal(t, d.home(), "chat", "-t", teamPath("capture.json"))
			chat.expect("hugo> ")
			chat.asks("one", "Failed to save session: ", "The disk is full: ", "Ada", textNotSaved)
			if stdout, _ := do(t, d.home(), exitDone, "sessions"); stdout != "" {
				t.Errorf("on the full disk there is %s", stdout)
			}
			d.makeRoom()
			chat.asks("two", "✓ Everything is saved again.", "Ada")
			chat.press(ctrlC + ctrlC)
			chat.ends(exitDone)
			checkSpoken(t, d.home(), dialogue(said, "one", "two"))
		})
	}
}

func TestFullDiskLosesOnlyReportedMessages(t *testing.T) {
	for _, free := range []int64{0, 9000} {
		t.Run(fmt.Sprintf("%d bytes are free", free), func(t *testing.T) {
			d := newDisk(t)
			said := reply(t, 20_000)
			do(t, d.home(), exitDone, "chat", "-t", teamPath("capture.json"), "-m", "one")
			d.fill(free)
			_, stderr := do(t, d.home(), exitFailed, "chat", "--resume", "-m", "two", "-m", "three")
			checkReportsFull(t, stderr)
			if _, stderr = do(t, d.home(), exitDone, "verify"); free > 0 &&
				!strings.Contains(stderr, "unfinished write") {
				t.Errorf("verify reports no torn tail: %s", stderr)
			}
			before := spoken(t, d.home())
			if n := len(before); n < 2 || n > 3 || !slices.Equal(before, dialogue(said, "one", "two")[:n]) {
				t.Errorf("the session has %d messages: %.500q", len(before), before)
			}
			d.fill(0) // not even a torn tail can be set aside
			_, stderr = do(t, d.home(), exitFailed, "chat", "--resume", "-m", "four")
			checkReportsFull(t, stderr)
			if asides, _ := filepath.Glob(filepath.Join(d.home(), "sessions", "*", "*.aside-*")); len(asides) > 0 {
				t.Errorf("there are aside files: %q", asides)
			}
			d.makeRoom()
			// it may have been saved
			before = append(before, []string{"hugo: four"}[:len(spoken(t, d.home()))-len(before)]...)
			do(t, d.home(), exitDone, "chat", "--resume", "-m", "five")
			checkSpoken(t, d.home(), append(before, dialogue(said, "five")...))
		})
	}
}

// checkReportsFull checks that a chat reports the full disk, and prints no command
// that resumes the unsaved messages.
func checkReportsFull(t *testing.T, stderr string) {
	t.Helper()
	for _, text := range []string{"Failed to save session: ", "no space left on device",
		"The disk is full: "} {
		if !strings.Contains(stderr, text) {
			t.Errorf("the output lacks %q: %s", text, stderr)
		}
	}
	if strings.Contains(stderr, "chat --resume ") {
		t.Errorf("the chat offers to resume unsaved messages: %s", stderr)
	}
}

// TestCommandsOnFullDiskFailAndKeepFiles runs each command on a full disk,
// and again after there is room.
func TestCommandsOnFullDiskFailAndKeepFiles(t *testing.T) {
	for _, c := range []struct {
		name    string
		damaged bool // the session's second line is damaged
		trashed bool // another session is in the trash
		args    []string
		works   bool // on the full disk
	}{
		{name: "compact", args: []string{"compact", "--keep", "0", "--archive-after", "0s"}},
		{name: "repair", damaged: true, args: []string{"repair", "latest-id"}},
		{name: "export", args: []string{"sessions", "export", "latest", "-o", "export/"}},
		{name: "rename", args: []string{"sessions", "rename", "latest", strings.Repeat("𝄞", 500)}},
		{name: "delete", args: []string{"sessions", "delete", "latest-id", "--yes"}},
		{name: "clean", args: []string{"sessions", "clean", "--older-than", "0s"}},
		{name: "clean, with something in the trash", trashed: true, works: true, args: []string{"sessions", "clean",
			"--trash"}},
		{name: "sessions", works: true, args: []string{"sessions"}},
		{name: "replay", works: true, args: []string{"replay", "latest"}},
		{name: "verify", works: true, args: []string{"verify"}},
		{name: "tail", works: true, args: []string{"tail", "latest"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDisk(t)
			reply(t, 40_000)
			do(t, d.home(), exitDone, "chat", "-t", teamPath("capture.json"), "-m", "one", "-m", "two")
			if c.trashed {
				do(t, d.home(), exitDone, "chat", "-t", teamPath("capture.json"), "-m", "three")
				do(t, d.home(), exitDone, "sessions", "delete", "latest", "--yes")
			}
			id, path := onlyJournal(t, d.home())
			removeCaches(t, d.home())
			if c.damaged {
				content := []byte(readFile(t, path))
				content[bytes.IndexByte(content, '\n')+20] ^= 1
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := slices.Clone(c.args)
			for i, arg := range args {
				switch arg {
				case "latest-id":
					args[i] = id
				case "export/":
					args[i] = filepath.Join(d.dir, "export") + "/"
				}
			}
			d.fill(0)
			before := contents(t, d.home())
			if c.works {
				do(t, d.home(), exitDone, args...)
				return
			}
			_, stderr := do(t, d.home(), exitFailed, args...)
			if !strings.Contains(stderr, "no space left on device") ||
				!strings.Contains(stderr, "The disk is full: ") {
				t.Errorf("the remedy is missing: %s", stderr)
			}
			if after := contents(t, d.home()); !maps.Equal(before, after) {
				t.Errorf("files changed: before %q, after %q", names(before), names(after))
			}
			if left := contents(t, d.dir); slices.ContainsFunc(names(left),
				func(n string) bool { return strings.HasSuffix(n, ".tmp") }) {
				t.Errorf("it left %q", names(left))
			}
			d.makeRoom()
			do(t, d.home(), exitDone, args...)
			do(t, d.home(), exitDone, "verify")
		})
	}
}

func removeCaches(t *testing.T, home string) {
	t.Helper()
	for _, pattern := range []string{"*.checkpoint.json", "sessions.json"} {
		paths, _ := filepath.Glob(filepath.Join(home, "sessions", "*", pattern))
		for _, path := range paths {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func names(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

func TestChatSavesAgainAfterReadOnlyDisk(t *testing.T) {
	t.Run("from the first word", func(t *testing.T) {
		d := newDisk(t)
		said := reply(t, 300)
		chat := startOnTerminal(t, d.home(), "chat", "-t", teamPath("capture.json"))
		chat.expect("hugo> ")
		d.remount("ro")
		for _, message := range []string{"one", "two"} {
			chat.asks(message, "Failed to save session: ", "read-only file system",
				"Check the permissions there", "Ada", textNotSaved)
		}
		d.remount("rw")
		chat.asks("three", "✓ Everything is saved again.", "Ada")
		chat.press(ctrlC + ctrlC)
		chat.ends(exitDone)
		checkSpoken(t, d.home(), dialogue(said, "one", "two", "three"))
	})
	t.Run("from a resume", func(t *testing.T) {
		d := newDisk(t)
		said := reply(t, 300)
		do(t, d.home(), exitDone, "chat", "-t", teamPath("capture.json"), "-m", "one")
		d.remount("ro")
		chat := startOnTerminal(t, d.home(), "chat", "--resume")
		chat.expect("2 messages loaded")
		chat.expect("hugo> ")
		chat.asks("two", "Failed to save session: ", "read-only file system", "Ada", textNotSaved)
		chat.asks("/status", textNotSaved)
		d.remount("rw")
		chat.asks("three", "✓ Everything is saved again.", "Ada")
		chat.press(ctrlC + ctrlC)
		chat.ends(exitDone)
		checkSpoken(t, d.home(), dialogue(said, "one", "two", "three"))
	})
}

// A file system in use cannot be remounted read-only, but it becomes read-only
// after an error, and stays so for a program that has files open.
func TestDiskErrorDuringChat(t *testing.T) {
	d := newDisk(t)
	said := reply(t, 300)
	chat := startOnTerminal(t, d.home(), "chat", "-t", teamPath("capture.json"))
	chat.expect("hugo> ")
	chat.asks("one", "Ada")
	chat.asks("two", "Ada")
	d.breakDown()
	for _, message := range []string{"three", "four"} {
		chat.asks(message, "Failed to save session: ", "read-only file system", "Ada", textNotSaved)
	}
	chat.press(ctrlC + ctrlC)
	chat.expect("Failed to save session: ")
	chat.ends(exitFailed)
	d.mend()
	checkSpoken(t, d.home(), dialogue(said, "one", "two"))
	do(t, d.home(), exitDone, "chat", "--resume", "-m", "five")
	checkSpoken(t, d.home(), dialogue(said, "one", "two", "five"))
}

// An overcommitted disk accepts a write and fails the sync: the page cache has
// data that the disk has not.
func TestOvercommittedDisk(t *testing.T) {
	needsDisks(t)
	below := t.TempDir()
	small := &disk{t: t, dir: below}
	small.system("mount", "-t", "tmpfs", "-o", "size=2M", "tmpfs", below)
	t.Cleanup(func() { exec.Command("umount", below).Run() })
	d := newDiskAt(t, filepath.Join(below, "image"), "16M", "-O", "^has_journal")
	said := reply(t, 60_000)
	chat := startOnTerminal(t, d.home(), "chat", "-t", teamPath("capture.json"))
	chat.expect("hugo> ")
	chat.asks("one", "Ada")

	fill(t, below, 0)
	asked := []string{"one"}
	for len(asked) < 10 && !strings.Contains(chat.stdout.String(), textNotSaved) { // some blocks are already allocated
		asked = append(asked, fmt.Sprint("again ", len(asked)))
		chat.asks(asked[len(asked)-1], "Ada")
	}
	chat.asks("three", "Failed to save session: ", "sync", "no space left on device", "Ada", textNotSaved)
	makeRoom(t, below)
	chat.asks("four", "✓ Everything is saved again.", "Ada")
	chat.press(ctrlC + ctrlC)
	chat.ends(exitDone)
	asked = append(asked, "three", "four")
	checkSpoken(t, d.home(), dialogue(said, asked...))
	d.mend() // the page cache is gone: this is the disk
	checkSpoken(t, d.home(), dialogue(said, asked...))
}

// A disk that is unmounted while it is in use leaves its mount point, another directory.
// What is created there would be hidden when the disk is mounted again.
func TestDiskUnmountedDuringChat(t *testing.T) {
	d := newDisk(t)
	said := reply(t, 300)
	chat := startOnTerminal(t, d.home(), "chat", "-t", teamPath("capture.json"))
	chat.expect("hugo> ")
	chat.asks("one", "Ada")
	d.system("umount", "--lazy", d.dir)
	chat.asks("two", "Failed to save session: ", "no such file", "Ada", textNotSaved)
	chat.asks("three", "another", "Ada", textNotSaved) // directory has its name; the row may end after any word
	if entries, err := os.ReadDir(d.dir); err != nil || len(entries) > 0 {
		t.Errorf("the mount point has %v, %v", entries, err)
	}
	d.mount()
	chat.asks("four", "✓ Everything is saved again.", "Ada")
	chat.press(ctrlC + ctrlC)
	chat.ends(exitDone)
	checkSpoken(t, d.home(), dialogue(said, "one", "two", "three", "four"))
}
