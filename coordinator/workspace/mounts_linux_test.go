package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMounts(t *testing.T) {
	const info = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:20 / /w rw - tmpfs tmpfs rw
24 22 254:0 /victim /w/a\040b\134 rw - ext4 /dev/vda rw
25 22 254:0 / /web rw - ext4 /dev/vda rw
bad
`
	for dir, want := range map[string][]string{"/w": {"/w", `/w/a b\`}, "/w/a b\\": {`/w/a b\`}, "/x": nil} {
		if diff := cmp.Diff(want, parseMounts(info, dir)); diff != "" {
			t.Errorf("below %s: %s", dir, diff)
		}
	}
}

// A mount in the worktree keeps it, so that nothing outside of it is removed.
func TestCheckMounts(t *testing.T) {
	if err := (Worktree{Dir: t.TempDir()}).CheckMounts(); err != nil {
		t.Error(err)
	}
	if err := (Worktree{Dir: "/"}).CheckMounts(); err == nil {
		t.Error("/ has no mounts")
	}
}
