//go:build !unix

package authority

import "io/fs"

// othersRead returns false: file modes do not describe the permissions.
func othersRead(fs.FileInfo) bool { return false }
