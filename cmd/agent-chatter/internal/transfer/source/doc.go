// Package source opens the files that are imported: plain or compressed, and for a transcript of another program those
// of its subagents.
package source
