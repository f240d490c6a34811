// Package workspace keeps what the files of a directory contained before and after each turn of an agent, and sets
// files back to that.
//
// A [Workspace] is a directory with a store of its own in the home. [Workspace.Capture] stores the files of the
// directory that Git does not ignore as a tree of package objects. Git only lists files: nothing in its directory is
// written. What an agent did is the difference between the trees before and after its turn.
package workspace
