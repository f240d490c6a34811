package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

var realDisks = flag.Bool("disk", false, "run the tests that mount disks and break system calls; they need root, "+
	"loop devices and strace")

// needsDisks skips a test without the flag -disk.
func needsDisks(t *testing.T) {
	t.Helper()
	if !*realDisks {
		t.Skip("needs root; to run it, type: go test ./cmd/agent-chatter -run Disk -disk")
	}
	if os.Getuid() != 0 {
		t.Fatal("-disk needs root to mount disks")
	}
}

// disk is a mounted file system: a small ext4 in a file, or one of another kind.
type disk struct {
	t     *testing.T
	image string // of the ext4; "": another kind
	dir   string // the mount point
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	needsDisks(t)
	return newDiskAt(t, filepath.Join(t.TempDir(), "image"), "4M")
}

func newDiskAt(t *testing.T, image, size string, options ...string) *disk {
	t.Helper()
	d := &disk{t: t, image: image, dir: t.TempDir()}
	d.system("truncate", "-s", size, image)
	d.system("mkfs.ext4", append(slices.Concat([]string{"-q", "-F", "-m", "0", "-b", "1024"}, options), image)...)
	d.mount()
	t.Cleanup(func() { exec.Command("umount", d.dir).Run() })
	return d
}

// system runs a program, which must succeed, and returns its output.
func (d *disk) system(name string, args ...string) string {
	d.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (d *disk) mount() {
	d.t.Helper()
	d.system("mount", "-o", "loop,errors=remount-ro", d.image, d.dir)
}

func (d *disk) remount(how string) {
	d.t.Helper()
	d.system("mount", "-o", "remount,"+how, d.dir)
}

func (d *disk) home() string { return filepath.Join(d.dir, "home") }

// fill leaves that many bytes free, rounded down to whole blocks.
func (d *disk) fill(free int64) { fill(d.t, d.dir, free) }

// makeRoom undoes fill.
func (d *disk) makeRoom() { makeRoom(d.t, d.dir) }

func fill(t *testing.T, dir string, free int64) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	for appendUntilFull(t, path) > 0 { // closing a file frees its preallocated blocks
		syscall.Sync()
	}
	info, err := os.Stat(path)
	if err == nil && free > 0 {
		err = os.Truncate(path, info.Size()-free)
	}
	if err != nil {
		t.Fatal(err)
	}
	syscall.Sync()
}

// appendUntilFull returns the number of blocks that it appended.
func appendUntilFull(t *testing.T, path string) (blocks int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for {
		_, err := f.Write(make([]byte, 1024))
		if errors.Is(err, syscall.ENOSPC) {
			return blocks
		}
		if err != nil {
			t.Fatal(err)
		}
		blocks++
	}
}

func makeRoom(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	syscall.Sync()
}

// breakDown causes an error in the file system, after which it is read-only.
func (d *disk) breakDown() {
	d.t.Helper()
	device := strings.TrimSpace(d.system("findmnt", "-no", "SOURCE", d.dir))
	trigger := filepath.Join("/sys/fs/ext4", filepath.Base(device), "trigger_fs_error")
	if err := os.WriteFile(trigger, []byte("1"), 0); err != nil {
		d.t.Fatal(err)
	}
}

// mend checks the file system, as at boot, and mounts it again.
func (d *disk) mend() {
	d.t.Helper()
	d.system("umount", d.dir)
	out, err := exec.Command("e2fsck", "-p", d.image).CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: it corrected errors
		d.t.Fatalf("e2fsck: %v\n%s", err, out)
	}
	d.mount()
}
