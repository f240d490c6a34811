package workspace

import (
	"os"
	"syscall"
	"time"
)

// timesOf returns the times of a file, of a link itself. Windows has no time of a change of the attributes.
func timesOf(path string) (Times, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Times{}, err
	}
	times := Times{Changed: info.ModTime()}
	if data, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		times.Born = time.Unix(0, data.CreationTime.Nanoseconds())
	}
	if times.Born.After(times.Changed) { // a copy keeps the time of its content
		times.Changed = times.Born
	}
	return times, nil
}
