//go:build unix && !linux

package tty

// beforeShell does nothing.
func beforeShell(*claims, func()) {}
