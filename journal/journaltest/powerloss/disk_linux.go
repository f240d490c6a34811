package powerloss

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Disk is a file system in memory that records what was synced.
type Disk struct {
	root *file

	mu       sync.Mutex
	lastID   uint64
	left     int           // changing operations until the power is cut; 0: it is not cut
	dark     chan struct{} // closed when the power is cut: from then on operations block
	released chan struct{} // closed when blocked operations may fail
}

// New returns an empty disk.
func New() *Disk {
	d := &Disk{dark: make(chan struct{}), released: make(chan struct{})}
	d.root = d.newFile(true)
	return d
}

// file is a file or a directory, in its current state and as it was synced.
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

// Mount mounts the disk at a directory, until unmount.
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

// CutBefore cuts the power before the nth operation from now that changes or syncs
// something; 1 is the next one. It then closes the channel, and every operation
// blocks until Release. Kill the program before calling that.
func (d *Disk) CutBefore(nth int) (dark <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = nth
	return d.dark
}

// Release makes the operations fail that block since the power was cut.
func (d *Disk) Release() { close(d.released) }

// AfterCut returns the disk with what is left after the power cut, chosen by dice.
func (d *Disk) AfterCut(dice *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &selection{dice: dice, odds: dice.Float64(), disk: New(), found: map[*file]*file{}}
	s.disk.root = s.file(d.root)
	return s.disk
}

// beginRead begins an operation that changes nothing. It locks the disk until end.
func (d *Disk) beginRead() syscall.Errno {
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

// beginWrite begins any other operation.
func (d *Disk) beginWrite() syscall.Errno {
	d.mu.Lock()
	if d.left > 0 {
		if d.left--; d.left == 0 {
			close(d.dark)
		}
	}
	d.mu.Unlock()
	return d.beginRead()
}

func (d *Disk) end() { d.mu.Unlock() }

// selection chooses what is left of a disk.
type selection struct {
	dice  *rand.Rand
	odds  float64 // probability that unsynced data is kept
	disk  *Disk
	found map[*file]*file // the result for each file, which may have two names now
}

func (s *selection) keep() bool { return s.dice.Float64() < s.odds }

func (s *selection) file(f *file) *file {
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

// names chooses for each entry its synced or its current state.
func (s *selection) names(f, left *file) {
	for _, name := range namesOf(f.entries, f.syncedEntries) {
		kept := f.syncedEntries[name]
		if now := f.entries[name]; now != kept && s.keep() {
			kept = now
		}
		if kept != nil {
			left.entries[name] = s.file(kept)
			left.syncedEntries[name] = left.entries[name]
		}
	}
}

const pageSize = 4096

// pages chooses for each page its synced or its current content, and a size between
// both.
func (s *selection) pages(synced, now []byte) []byte {
	size := len(synced)
	switch {
	case len(now) > size && s.keep():
		size = len(now)
	case len(now) > size:
		size += s.dice.IntN(len(now)-size+1) / pageSize * pageSize
	case s.keep():
		size = len(now)
	}
	left := make([]byte, size)
	copy(left, synced)
	for at := 0; at < size; at += pageSize {
		if page := left[at:min(at+pageSize, size)]; s.keep() {
			clear(page)
			if at < len(now) {
				copy(page, now[at:])
			}
		}
	}
	return left
}
