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

// networkKind returns the system's name of a file system without the flag for
// local ones: nfs, smbfs, afpfs, webdav, macfuse.
func networkKind(st *unix.Statfs_t) string {
	if st.Flags&unix.MNT_LOCAL != 0 {
		return ""
	}
	return unix.ByteSliceToString(st.Fstypename[:])
}
