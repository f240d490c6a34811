package vfs

import "golang.org/x/sys/unix"

// fsKind returns the kind of a path's file system, or "" if it is local.
func fsKind(path string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return "", err
	}
	return networkKind(&st), nil
}

// networkKind translates the magic number of a file system. For FUSE, it cannot
// distinguish sshfs from a local file system.
func networkKind(st *unix.Statfs_t) string {
	switch uint32(st.Type) { // signed, and of 32 or 64 bits
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "SMB"
	case unix.V9FS_MAGIC:
		return "9P"
	case unix.FUSE_SUPER_MAGIC:
		return "FUSE"
	case unix.AFS_FS_MAGIC, unix.AFS_SUPER_MAGIC:
		return "AFS"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	case unix.OCFS2_SUPER_MAGIC:
		return "OCFS2"
	case lustreMagic:
		return "Lustre"
	case gfs2Magic:
		return "GFS2"
	}
	return ""
}

// Magic numbers missing in golang.org/x/sys.
const (
	lustreMagic = 0x0bd00bd0
	gfs2Magic   = 0x01161970
)
