// Package hubfaults tests agent-chatter on machines that share a hub whose servers fail. It has tests only, so that
// the time limit of package main's tests does not include theirs.
package hubfaults
