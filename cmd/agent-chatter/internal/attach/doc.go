// Package attach finds the files that a person attaches to a message: by their paths in it, as pictures that are
// pasted, and those of the system's clipboard. It also completes paths.
//
// A word such as @src/main.go in a message attaches a file below the working directory, and @src/main.go:10-40 some of
// its lines. No link leads out of the directory, and nothing but regular files is read. A word that names no file is
// text: it may name a member, or a package.
package attach
