//go:build linux || darwin

package doctor

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// ownedBy is a file of another user.
type ownedBy struct {
	fs.FileInfo
	uid uint32
}

func (o ownedBy) Sys() any { return &syscall.Stat_t{Uid: o.uid} }

func TestDoctorReportsFilesOfOtherUsers(t *testing.T) {
	d := newTestDoctor(t, vfs.OS)
	info, err := os.Stat(d.Home)
	if err != nil {
		t.Fatal(err)
	}
	own, other := uint32(os.Geteuid()), uint32(os.Geteuid()+1)
	d.files = []homeFile{
		{d.Home, ownedBy{info, own}}, {"first", ownedBy{info, other}}, {"second", ownedBy{info, other}},
	}
	found := d.checkOwner()
	if len(found) != 1 || found[0].State != app.StateWrong || found[0].What != foreignText(d.Home, 2, int(other), "first").What {
		t.Errorf("findings: %+v", found)
	}
}

func TestDoctorReportsUnreadableFiles(t *testing.T) {
	d := newTestDoctor(t, vfs.OS)
	d.unreadable = []error{&fs.PathError{Op: "open", Path: "x", Err: errors.New("broken")}}
	found := d.checkPermissions()
	if len(found) == 0 || found[0].State != app.StateWrong || !strings.Contains(found[0].What, "broken") {
		t.Errorf("findings: %+v", found)
	}
}
