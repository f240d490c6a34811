// Package powerloss is a disk that loses its power, below a program that knows
// nothing of it.
//
// A Disk is a file system in memory, mounted over FUSE. It remembers of each
// file and each directory what was synced. When its power is cut, what is left
// is what was synced, and a random part of the rest: pages of 4 KiB that arrived
// and others that are still as they were, or NUL; sizes that grew before or
// without their data; entries of a directory that came or went each on its own.
// Nothing is promised that POSIX does not promise: the fsync of a file does not
// keep its name, that of a directory not what its files hold.
//
// The test runs the real chat on it and cuts the power before random operations:
//
//	cd journal/journaltest/powerloss && go test -rounds 100
//
// It needs root and /dev/fuse, and is a module of its own so that nobody else
// needs the FUSE library.
package powerloss
