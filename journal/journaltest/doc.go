// Package journaltest provides file systems for tests of package journal and of
// packages built on it.
//
// An FS is a file system whose operations fail when a test requests it:
//
//	disk := journaltest.New(vfs.OS)
//	dir := journal.NewDir(path, journal.Options{FS: disk})
//	disk.Fail(1, syscall.EIO, journaltest.Sync) // the next fsync, once
//
// To test every single failure, fail the first operation, then the second, and so
// on, until a run does not reach the failure:
//
//	for n := 1; ; n++ {
//		disk := journaltest.New(vfs.OS)
//		disk.Fail(n, syscall.ENOSPC)
//		run(disk)
//		if !disk.Failed() {
//			break
//		}
//	}
//
// A Mem is a file system in memory that distinguishes what is on the disk. A test
// can cut its power at any operation and continue with the result:
//
//	mem := journaltest.NewMem()
//	disk := journaltest.New(mem)
//	disk.Before(func() {
//		for kind, image := range mem.Images(10, 1) {
//			check(kind, image)
//		}
//	})
//	run(disk)
//
// # What a power cut leaves
//
// The model is a file system that guarantees no more than POSIX does:
//
//   - Data for which File.Sync has returned nil is kept, in pages of 4 KiB.
//   - Of pages written since, each may be kept or not. The size may have grown
//     without the pages, which then contain NUL bytes.
//   - A name is kept if its directory was synced since; a rename between two
//     directories if both were. Other changes of names may be kept or not, each
//     independently, but a rename is atomic: a file is never in two places.
//   - A failed sync loses the pages that it should have written: the next sync does
//     not write them, although the system still returns them until DropCaches.
//
// The FS records every operation. Print it in a test that fails, to see how far the
// test came.
package journaltest
