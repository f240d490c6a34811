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
// The FS notes every operation. A test that does not go as expected prints the
// FS to see how far it came.
package journaltest
