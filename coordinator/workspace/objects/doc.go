// Package objects stores the contents of directories: files, symbolic links and trees of them, each under the SHA-256
// of its bytes.
//
// A [Store] is a directory of packs. A pack holds the objects that one capture has added. It is written to a temporary
// file, synced and renamed, and never changes after that, so a crash leaves all of it or nothing. A directory is an
// object, too: the sorted list of its [Entry] values. The hash of a tree is the hash of its top directory.
//
// Content that is missing or damaged is an error, never an absent file.
package objects
