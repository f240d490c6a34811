// Package powerloss provides a disk that loses its power under an unmodified program.
//
// A Disk is a file system in memory, mounted over FUSE, that records what was synced.
// When its power is cut, it keeps what was synced, and a random part of the rest:
// pages of 4 KiB that were written, others that have their previous content or NUL
// bytes, sizes that grew before or without their data, and directory entries that
// were created or removed independently. It guarantees no more than POSIX does: the
// fsync of a file does not keep its name, and that of a directory does not keep the
// content of its files.
//
// The test runs a chat of the real program on it and cuts the power before random
// operations:
//
//	cd journal/journaltest/powerloss && go test -rounds 100
//
// It needs root and /dev/fuse. It is a module of its own, so that only this test
// needs the FUSE library.
package powerloss
