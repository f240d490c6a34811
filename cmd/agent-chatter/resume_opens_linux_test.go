package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A resumed chat opens its journal and the configuration once each.
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
			if n != 1 {
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
		watch, err := unix.InotifyAddWatch(fd, p, unix.IN_OPEN)
		if err != nil {
			t.Fatal(err)
		}
		path[int32(watch)], count[p] = p, 0
		// Equal events in a row are one event. Those of the directory keep them apart.
		if _, err := unix.InotifyAddWatch(fd, filepath.Dir(p), unix.IN_OPEN); err != nil {
			t.Fatal(err)
		}
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer unix.Close(fd)
		for buf := make([]byte, 1<<16); ; {
			n, _ := unix.Read(fd, buf)
			for event := buf[:max(n, 0)]; len(event) >= unix.SizeofInotifyEvent; {
				if p, ok := path[int32(binary.NativeEndian.Uint32(event))]; ok {
					count[p]++
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
