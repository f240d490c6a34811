package journal

import "golang.org/x/sys/unix"

// fsKind names the file system of a path, when it is one of a network.
func fsKind(path string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return "", err
	}
	return networkKind(&st), nil
}

// networkKind is the system's own name of a file system that it does not call
// local: nfs, smbfs, afpfs, webdav, macfuse.
func networkKind(st *unix.Statfs_t) string {
	if st.Flags&unix.MNT_LOCAL != 0 {
		return ""
	}
	return unix.ByteSliceToString(st.Fstypename[:])
}
