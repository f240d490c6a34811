package powerloss

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Disk is a file system in memory that tells what was synced from what was not.
type Disk struct {
	root *file

	mu       sync.Mutex
	lastID   uint64
	left     int           // operations that change something, up to the one before which the power goes; 0: it stays
	dark     chan struct{} // closed when it is gone: whoever asks for something waits
	released chan struct{} // closed when nobody has to wait any more
}

// New returns an empty disk.
func New() *Disk {
	d := &Disk{dark: make(chan struct{}), released: make(chan struct{})}
	d.root = d.newFile(true)
	return d
}

// file is a file or a directory, as everybody sees it and as it was synced.
type file struct {
	id  uint64
	dir bool

	data, syncedData       []byte
	entries, syncedEntries map[string]*file
}

func (d *Disk) newFile(dir bool) *file {
	d.lastID++
	f := &file{id: d.lastID, dir: dir}
	if dir {
		f.entries, f.syncedEntries = map[string]*file{}, map[string]*file{}
	}
	return f
}

// Mount shows the disk in a directory, until unmount.
func (d *Disk) Mount(dir string) (unmount func() error, err error) {
	server, err := fs.Mount(dir, &node{disk: d, file: d.root}, &fs.Options{
		MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "powerloss", Name: "powerloss"},
	})
	if err != nil {
		return nil, err
	}
	return func() error {
		err := syscall.Unmount(dir, syscall.MNT_DETACH)
		server.Wait()
		return err
	}, nil
}

// CutBefore takes the power away before the nth operation from now on that
// changes or syncs something; 1 is the next one. Then the channel is closed, and
// every operation waits for Release: by then, whoever asked for it should be
// dead.
func (d *Disk) CutBefore(nth int) (dark <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = nth
	return d.dark
}

// Release fails the operations that wait since the power went.
func (d *Disk) Release() { close(d.released) }

// Left is the disk that is there when the power comes back.
func (d *Disk) Left(dice *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &survival{dice: dice, luck: dice.Float64(), disk: New(), found: map[*file]*file{}}
	s.disk.root = s.file(d.root)
	return s.disk
}

// look is the beginning of an operation that changes nothing: the disk is the
// caller's until end.
func (d *Disk) look() syscall.Errno {
	d.mu.Lock()
	select {
	case <-d.dark:
		d.mu.Unlock()
		<-d.released
		return syscall.EIO
	default:
		return 0
	}
}

// change is the beginning of any other operation.
func (d *Disk) change() syscall.Errno {
	d.mu.Lock()
	if d.left > 0 {
		if d.left--; d.left == 0 {
			close(d.dark)
		}
	}
	d.mu.Unlock()
	return d.look()
}

func (d *Disk) end() { d.mu.Unlock() }

// survival chooses what is left of a disk.
type survival struct {
	dice  *rand.Rand
	luck  float64 // how likely it is that something unsynced is kept
	disk  *Disk
	found map[*file]*file // what was chosen for a file, which may have two names now
}

func (s *survival) lucky() bool { return s.dice.Float64() < s.luck }

func (s *survival) file(f *file) *file {
	if left, ok := s.found[f]; ok {
		return left
	}
	left := s.disk.newFile(f.dir)
	s.found[f] = left
	if f.dir {
		s.names(f, left)
	} else {
		left.data = s.pages(f.syncedData, f.data)
		left.syncedData = bytes.Clone(left.data)
	}
	return left
}

// names keeps each entry as it was synced or as it is.
func (s *survival) names(f, left *file) {
	for _, name := range namesOf(f.entries, f.syncedEntries) {
		kept := f.syncedEntries[name]
		if now := f.entries[name]; now != kept && s.lucky() {
			kept = now
		}
		if kept != nil {
			left.entries[name] = s.file(kept)
			left.syncedEntries[name] = left.entries[name]
		}
	}
}

const pageSize = 4096

// pages keeps each page as it was synced or as it is, and a size between both.
func (s *survival) pages(synced, now []byte) []byte {
	size := len(synced)
	switch {
	case len(now) > size && s.lucky():
		size = len(now)
	case len(now) > size:
		size += s.dice.IntN(len(now)-size+1) / pageSize * pageSize
	case s.lucky():
		size = len(now)
	}
	left := make([]byte, size)
	copy(left, synced)
	for at := 0; at < size; at += pageSize {
		if page := left[at:min(at+pageSize, size)]; s.lucky() {
			clear(page)
			if at < len(now) {
				copy(page, now[at:])
			}
		}
	}
	return left
}
