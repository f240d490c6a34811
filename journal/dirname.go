package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// DirName turns any identifier into the name of a directory. Two identifiers
// never share one, not even on a file system that ignores case, and none leads
// to another directory.
//
// A plain identifier is its own name: it matches [a-z0-9_-]{1,64}, is not the
// name of a Windows device, and does not end in - and 8 hex digits. Of any other,
// the characters outside [A-Za-z0-9_-] become _, the result is cut to 48
// bytes, and - and 8 hex digits of the identifier's SHA-256 are appended.
func DirName(id string) string {
	if isPlainName(id) {
		return id
	}
	safe := strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' || r < 0x80 && isPlainByte(byte(r)) {
			return r
		}
		return '_'
	}, id)
	sum := sha256.Sum256([]byte(id))
	return safe[:min(len(safe), 48)] + "-" + hex.EncodeToString(sum[:4])
}

func isPlainName(id string) bool {
	if id == "" || len(id) > 64 || isDevice(id) {
		return false
	}
	for i := range len(id) {
		if !isPlainByte(id[i]) {
			return false
		}
	}
	if dash := len(id) - 9; dash >= 0 && id[dash] == '-' {
		return strings.Trim(id[dash+1:], hexDigits) != ""
	}
	return true
}

func isPlainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// isDevice reports whether Windows takes the name, in lower case, for a device.
func isDevice(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	isPort := strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")
	return isPort && len(name) == 4 && '0' <= name[3] && name[3] <= '9'
}
