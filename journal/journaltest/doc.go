// Package journaltest helps to test what is built on package journal, by
// breaking what is below it.
//
// An FS is a file system whose operations fail when a test says so:
//
//	disk := journaltest.New(journal.OS)
//	dir := journal.NewDir(path, journal.Options{FS: disk})
//	disk.Fail(1, syscall.EIO, journaltest.Sync) // the next fsync, once
//
// A test that wants to know what every single failure does fails the first
// operation, then the second, and so on, until a run needs none:
//
//	for n := 1; ; n++ {
//		disk := journaltest.New(journal.OS)
//		disk.Fail(n, syscall.ENOSPC)
//		run(disk)
//		if !disk.Failed() {
//			break
//		}
//	}
//
// A Mem is a file system in memory that knows what of it is on the disk. A
// test cuts its power and goes on with what is left:
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
// The model is that of a file system which promises no more than POSIX does:
//
//   - What File.Sync has returned nil for is there, in pages of 4 KiB.
//   - Of pages that were written since, any can be there or not. The size can
//     have grown without the pages, which then are NUL.
//   - A name is there when its directory was synced since; a rename between two
//     directories when both were. Other changes of names can be done or undone,
//     each for itself, but a rename is never half done, and a file not at two
//     places.
//   - A sync that fails loses what it should have written: the next one does not
//     know of it, though the system shows it still, until DropCaches.
//
// The FS notes every operation. A test that does not go as expected prints the
// FS to see how far it came.
package journaltest
