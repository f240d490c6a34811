//go:build !linux && !darwin

package journal

// fsKind is not implemented for this system.
func fsKind(string) (string, error) { return "", nil }
