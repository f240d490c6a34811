package vfs

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestNetworkKind(t *testing.T) {
	for _, tt := range []struct {
		kind  string
		flags uint32
		want  string
	}{
		{"apfs", unix.MNT_LOCAL, ""},
		{"hfs", unix.MNT_LOCAL | unix.MNT_RDONLY, ""},
		{"nfs", 0, "nfs"},
		{"smbfs", unix.MNT_RDONLY, "smbfs"},
	} {
		st := unix.Statfs_t{Flags: tt.flags}
		copy(st.Fstypename[:], tt.kind)
		if got := networkKind(&st); got != tt.want {
			t.Errorf("%s with %#x is called %q, want %q", tt.kind, tt.flags, got, tt.want)
		}
	}
}
