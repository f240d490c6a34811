// Package gitindex reports whether a Git repository tracks files of a directory.
//
// It reads the repository's index and starts no program: the configuration of a
// repository that was cloned from elsewhere can name commands that git would run.
package gitindex
