package app

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// unversioned is the version of a program that was built without the repository, such as that of a test.
const unversioned = "0.0.0-dev"

// A Build is how a program was built.
type Build struct {
	Version string `json:"version"`          // without the v of its tag
	Commit  string `json:"commit,omitempty"` // "": unknown
	Date    string `json:"date,omitempty"`   // of the commit, as RFC 3339 has it; "": unknown
	Changed bool   `json:"changed,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// ThisBuild returns how this program was built. The go command records it: of a build in a clone, and of one of a
// version of the module.
var ThisBuild = sync.OnceValue(func() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
})

// pseudoVersion matches a version that the go command makes of a commit without a tag: its time and its hash.
var pseudoVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[-.](\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)-([0-9a-f]{12})(?:\+|$)`)
})

func buildOf(info *debug.BuildInfo) Build {
	b := Build{Go: cmp.Or(info.GoVersion, runtime.Version()), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info.Main.Version != "(devel)" {
		b.Version = strings.TrimPrefix(info.Main.Version, "v")
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	if m := pseudoVersion().FindStringSubmatch(b.Version); m != nil {
		b.Date = cmp.Or(b.Date, fmt.Sprintf("%s-%s-%sT%s:%s:%sZ", m[1], m[2], m[3], m[4], m[5], m[6]))
		b.Commit = cmp.Or(b.Commit, m[7])
	}
	b.Version = cmp.Or(b.Version, unversioned)
	return b
}

// VersionText is what --version prints.
func VersionText(b Build) string {
	text := "agent-chatter " + b.Version
	if b.Commit == "" {
		return text
	}
	return fmt.Sprintf("%s (commit %.12s, %s)", text, b.Commit, b.Date)
}
