//go:build unix

package authority

import "io/fs"

// othersRead reports whether the mode of a file with a key lets others read it.
func othersRead(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
