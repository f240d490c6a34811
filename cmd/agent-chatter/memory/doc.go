// Package memory tests how much memory agent-chatter needs for floods of agents and for large transcripts. It has
// tests only, so that the time limit of package main's tests does not include theirs.
package memory
