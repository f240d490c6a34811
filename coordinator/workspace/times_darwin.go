package workspace

import (
	"time"

	"golang.org/x/sys/unix"
)

// timesOf returns the times of a file, of a link itself.
func timesOf(path string) (Times, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return Times{}, err
	}
	return Times{Changed: time.Unix(st.Ctim.Unix()), Born: time.Unix(st.Btim.Unix())}, nil
}
