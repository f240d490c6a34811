package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A resumed chat reads its configuration once. It opens its journal once to lock it, and
// once to read and write it. Two opens in a row are one event if nothing is read between.
func TestResumeOpensFilesOnce(t *testing.T) {
	for _, flags := range [][]string{{"--resume"}, {"--resume", "-t", "demo"}, {"--resume", "hello"}} {
		home := t.TempDir()
		config := filepath.Join(home, "config.json")
		if err := os.WriteFile(config, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		do(t, home, exitDone, "chat", "-m", "hello")
		_, journal := onlyJournal(t, home)

		opens := countOpens(t, config, journal)
		do(t, home, exitDone, append([]string{"chat", "-m", "again"}, flags...)...)
		for path, n := range opens() {
			most := 1
			if path == journal {
				most = 2
			}
			if n == 0 || n > most {
				t.Errorf("%q: %s is opened %d times", flags, filepath.Base(path), n)
			}
		}
	}
}

// countOpens returns a function that returns how often each of the files was opened.
func countOpens(t *testing.T, paths ...string) (opens func() map[string]int) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Skip("inotify is not available: ", err)
	}
	count, path := map[string]int{}, map[int32]string{}
	for _, p := range paths {
		// Equal events in a row are one event: those of closing keep those of opening apart.
		watch, err := unix.InotifyAddWatch(fd, p, unix.IN_OPEN|unix.IN_CLOSE)
		if err != nil {
			t.Fatal(err)
		}
		path[int32(watch)], count[p] = p, 0
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer unix.Close(fd)
		for buf := make([]byte, 1<<16); ; {
			n, _ := unix.Read(fd, buf)
			for event := buf[:max(n, 0)]; len(event) >= unix.SizeofInotifyEvent; {
				if binary.NativeEndian.Uint32(event[4:])&unix.IN_OPEN != 0 {
					count[path[int32(binary.NativeEndian.Uint32(event))]]++
				}
				event = event[unix.SizeofInotifyEvent+binary.NativeEndian.Uint32(event[12:]):]
			}
			if n > 0 {
				continue
			}
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() map[string]int {
		close(stop)
		<-done
		return count
	}
}
