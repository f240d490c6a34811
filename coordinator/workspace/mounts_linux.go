package workspace

import (
	"os"
	"path/filepath"
	"strings"
)

// mountsBelow returns what is mounted in a directory, or on it. Bind mounts count, which have the device of their
// file system. Without /proc nothing is known.
func mountsBelow(dir string) []string {
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return parseMounts(string(info), dir)
}

// parseMounts returns the mount points in a directory, or on it, of /proc/self/mountinfo. The fifth field of a line is
// a path in which spaces, tabs, line feeds and backslashes are octal.
func parseMounts(info, dir string) (mounts []string) {
	octal := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(info) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		at := octal.Replace(fields[4])
		if below, err := filepath.Rel(dir, at); err == nil && filepath.IsLocal(below) {
			mounts = append(mounts, at)
		}
	}
	return mounts
}
