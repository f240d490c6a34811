package vfs

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The numbers are from statfs(2).
func TestNetworkKind(t *testing.T) {
	for _, tt := range []struct {
		magic uint32
		want  string
	}{
		{0x6969, "NFS"},
		{0x517b, "SMB"},
		{0xff534d42, "SMB"}, // CIFS; negative if the type has 32 bits
		{0xfe534d42, "SMB"},
		{0x01021997, "9P"},
		{0x65735546, "FUSE"},
		{0x5346414f, "AFS"},
		{0x6b414653, "AFS"},
		{0x00c36400, "Ceph"},
		{0x73757245, "Coda"},
		{0x7461636f, "OCFS2"},
		{0x0bd00bd0, "Lustre"},
		{0x01161970, "GFS2"},
		{0xef53, ""},     // ext4
		{0x9123683e, ""}, // btrfs
		{0x58465342, ""}, // xfs
		{0x01021994, ""}, // tmpfs
		{0x794c7630, ""}, // overlayfs
		{0x2fc12fc1, ""}, // zfs
		{0, ""},
	} {
		var st unix.Statfs_t
		setType(&st.Type, tt.magic)
		if got := networkKind(&st); got != tt.want {
			t.Errorf("%#x is called %q, want %q", tt.magic, got, tt.want)
		}
	}
}

// setType sets a type as statfs does: it has 32 or 64 bits, and may be signed.
func setType[T int32 | int64 | uint32 | uint64](field *T, magic uint32) { *field = T(int32(magic)) }
