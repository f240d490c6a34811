package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// disk counts what short messages take on the disk, all files together, in many
// short chats and in a long one.
func (f *figures) disk(t *testing.T) {
	short, long := f.home(t), f.home(t)
	var lines bytes.Buffer
	for range f.chats {
		f.do(t, short, nil, "chat", "-m", "hello") // you, the planner, the critic
		fmt.Fprintln(&lines, "hello")
	}
	f.do(t, long, &lines, "chat")
	messages := int64(3 * f.chats)
	var rows [][]string
	for _, h := range []struct{ what, home string }{{fmt.Sprintf("%d chats of 3 messages", f.chats), short}, {"one chat of as many", long}} {
		bytes, blocks := occupied(t, h.home)
		rows = append(rows, []string{h.what, fmt.Sprint(bytes / messages), fmt.Sprint(blocks / messages)})
		f.is("bytes on disk a short message, "+h.what, float64(bytes/messages), 1200, "bytes")
	}
	printTable([]string{"", "bytes a message", "with what the file system rounds up"}, rows)

	before, _ := occupied(t, short)
	f.do(t, short, nil, "chat", "--resume")
	after, _ := occupied(t, short)
	f.is("bytes that a resume without a message leaves on the disk", float64(after-before), 0, "bytes")
}

// occupied is what the files of a directory hold, and what they take with what
// the file system rounds up, in bytes.
func occupied(t *testing.T, dir string) (bytes, blocks int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		bytes += info.Size()
		blocks += info.Sys().(*syscall.Stat_t).Blocks * 512
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes, blocks
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
