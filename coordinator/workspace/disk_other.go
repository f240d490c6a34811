//go:build !windows && !linux

package workspace

import "golang.org/x/sys/unix"

func statOf(st *unix.Stat_t) stat {
	return stat{uint32(st.Mode), st.Size, st.Mtim.Nano(), st.Ctim.Nano(), uint64(st.Ino)}
}
