package workspace

import "golang.org/x/sys/unix"

func statOf(st *unix.Stat_t) stat {
	return stat{st.Mode, st.Size, st.Mtim.Nano(), st.Ctim.Nano(), st.Ino}
}
