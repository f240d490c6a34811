package workspace

import (
	"time"

	"golang.org/x/sys/unix"
)

// timesOf returns the times of a file, of a link itself.
func timesOf(path string) (Times, error) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_CTIME|unix.STATX_BTIME, &st)
	if err != nil {
		return Times{}, err
	}
	times := Times{Changed: time.Unix(st.Ctime.Sec, int64(st.Ctime.Nsec))}
	if st.Mask&unix.STATX_BTIME != 0 {
		times.Born = time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
	}
	return times, nil
}
