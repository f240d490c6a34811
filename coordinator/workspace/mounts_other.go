//go:build !linux

package workspace

// mountsBelow returns nothing: here, what is mounted in a directory is unknown.
func mountsBelow(string) []string { return nil }
