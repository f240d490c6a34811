// Package filechanges implements the command files: what each turn of an agent changed in its directory, what a file
// contained, and a patch of the changes.
//
// The journal of a session says which trees of files there were before and after each turn. The trees and the contents
// are in the store of the directory, in the home; see coordinator/workspace.
package filechanges
