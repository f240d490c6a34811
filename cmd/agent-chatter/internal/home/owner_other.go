//go:build !unix

package home

import "io/fs"

func foreignOwner(fs.FileInfo) int { return -1 }

// othersWrite returns false: file modes do not describe the permissions.
func othersWrite(fs.FileInfo) bool { return false }

// directoryID returns "": the system has no inodes.
func directoryID(fs.FileInfo) string { return "" }
