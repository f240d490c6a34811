//go:build !linux && !darwin

package journal

// fsKind knows no file systems here.
func fsKind(string) (string, error) { return "", nil }
