package figures

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// disk counts the bytes of short messages on the disk, all files included, in
// many short chats and in a long one.
func (f *figures) disk(t *testing.T) {
	short, long := version{f.program, f.home(t)}, version{f.program, f.home(t)}
	var lines bytes.Buffer
	for range f.chats {
		short.do(t, nil, "chat", "-m", "hello") // you, the planner, the critic
		fmt.Fprintln(&lines, "hello")
	}
	long.do(t, &lines, "chat")
	messages := int64(3 * f.chats)
	var rows [][]string
	for _, h := range []struct {
		what, home string
		most       float64
	}{
		{fmt.Sprintf("%d chats of 3 messages", f.chats), short.home, 2_500}, // each with a team, a row and a checkpoint
		{"one chat of as many messages", long.home, 1_200},
	} {
		bytes, blocks := diskUsage(t, h.home)
		rows = append(rows, []string{h.what, fmt.Sprint(bytes / messages), fmt.Sprint(blocks / messages)})
		f.atMost("bytes on disk per short message, "+h.what, float64(bytes/messages), h.most, "bytes")
	}
	printTable([]string{"", "bytes per message", "in blocks of the file system"}, rows)

	before, _ := diskUsage(t, short.home)
	short.do(t, nil, "chat", "--resume")
	after, _ := diskUsage(t, short.home)
	f.atMost("bytes added by a resume without a message", float64(after-before), 0, "bytes")
}

// diskUsage returns the sum of the sizes of the files in a directory, and of
// their blocks, in bytes.
func diskUsage(t *testing.T, dir string) (bytes, blocks int64) {
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

// fileSize returns the size of a file in bytes, 0 if it does not exist.
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
