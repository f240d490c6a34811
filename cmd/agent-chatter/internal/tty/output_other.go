//go:build !linux && !darwin

package tty

// processOutput does nothing: raw mode does not change the output.
func processOutput(uintptr) error { return nil }
