package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// inotifyUsage returns how many inotify instances and watches the user's processes
// have, and the limits. Processes that start or end meanwhile may be missed.
func inotifyUsage() (instances, watches usage, err error) {
	const limits = "/proc/sys/fs/inotify/"
	if instances.limit, err = readNumber(limits + "max_user_instances"); err != nil {
		return instances, watches, err
	}
	if watches.limit, err = readNumber(limits + "max_user_watches"); err != nil {
		return instances, watches, err
	}
	open, err := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range open {
		if n, ok := inotifyWatches(fd); ok {
			instances.used++
			watches.used += n
		}
	}
	return instances, watches, err
}

func readNumber(path string) (int, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(bytes.TrimSpace(content)))
}

// inotifyWatches counts the watches of a file descriptor, given as /proc/PID/fd/N. It
// reports false unless that is an inotify instance of the user.
func inotifyWatches(fd string) (n int, ok bool) {
	if target, err := os.Readlink(fd); err != nil || target != "anon_inode:inotify" {
		return 0, false
	}
	info, err := os.Lstat(fd)
	if err != nil {
		return 0, false
	}
	if uid, known := owner(info); !known || uid != os.Geteuid() {
		return 0, false
	}
	process, number := filepath.Dir(filepath.Dir(fd)), filepath.Base(fd)
	content, err := os.ReadFile(filepath.Join(process, "fdinfo", number))
	return bytes.Count(content, []byte("inotify wd:")), err == nil
}
