package journal

import "io/fs"

// inode returns 0: callers rely on size and modification time.
func inode(fs.FileInfo) uint64 { return 0 }
