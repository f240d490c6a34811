// Package vfs is the file system under the journals: an interface that tests replace, the
// operating system's implementation of it, and what is built from its operations: files
// that are replaced as a whole, lock files, and directories whose entries are on the disk.
//
// Package journaltest has an FS that fails on request, and one that loses what was not
// synced.
//
// # Replacing files
//
// Replace writes the new content to a temporary file with a unique name in the same
// directory, NAME.XXXXXXXX.tmp, which it then renames: a reader finds the previous content
// or the new content, never a part of either. A failure removes the temporary file and
// leaves the previous content. A crash may leave a temporary file, which is never read.
// Create writes a file that must not replace another one.
//
// # Shared directories
//
// New directories have mode 0700, new files 0600. In a directory that its group shares
// (with the setgid bit, and writable by the group), they belong to the group, with mode
// 2770 and 0660, so that its members can take turns.
package vfs
