//go:build !linux && !darwin

package vfs

// fsKind is not implemented for this system.
func fsKind(string) (string, error) { return "", nil }
