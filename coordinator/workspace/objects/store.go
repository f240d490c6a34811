package objects

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// packSuffix ends the name of a pack.
const packSuffix = ".pack"

// Store is a directory of packs. It is not safe for concurrent use; several stores of one directory are, in any number
// of processes, if all but one at a time only read.
type Store struct {
	fs      vfs.FS
	dir     string
	packs   map[string]*pack // by file name
	damaged []error          // of packs that are none
}

// Open returns the store in a directory, which need not exist before the first Write.
func Open(fsys vfs.FS, dir string) *Store {
	return &Store{fs: fsys, dir: dir, packs: map[string]*pack{}}
}

// MissingError is the error of an object that no pack has.
type MissingError struct {
	Dir  string
	Hash Hash
}

func (e *MissingError) Error() string { return fmt.Sprintf("%s has no object %s", e.Dir, e.Hash) }

// load reads the indexes of packs that are new, and forgets packs that are gone.
func (s *Store) load() error {
	entries, err := s.fs.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	packs := map[string]*pack{}
	s.damaged = nil
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, packSuffix) {
			continue
		}
		p := s.packs[name]
		if p == nil {
			p, err = readPack(s.fs, filepath.Join(s.dir, name))
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		case err != nil:
			s.damaged = append(s.damaged, err)
		default:
			packs[name] = p
		}
		err = nil
	}
	s.packs = packs
	return nil
}

// find returns the pack that has an object; nil: none of those that are known.
func (s *Store) find(h Hash) (*pack, frame) {
	for _, p := range s.packs {
		if at, ok := p.index[h]; ok {
			return p, at
		}
	}
	return nil, frame{}
}

// Read returns an object. The error of one that no pack has is a *MissingError, with those of packs that cannot be
// read; that of damaged bytes a *DamagedError. Neither matches fs.ErrNotExist.
func (s *Store) Read(h Hash) ([]byte, error) {
	p, at := s.find(h)
	if p != nil {
		object, err := p.read(s.fs, h, at)
		if !errors.Is(err, fs.ErrNotExist) {
			return object, err
		}
	}
	// The pack is new, or was merged into another one.
	if err := s.load(); err != nil {
		return nil, err
	}
	if p, at = s.find(h); p == nil {
		return nil, errors.Join(append([]error{&MissingError{s.dir, h}}, s.damaged...)...)
	}
	return p.read(s.fs, h, at)
}

// Writer adds objects to a store.
type Writer struct {
	s *Store
	p *packWriter
}

// Put adds an object, unless the store has it, and returns its hash.
func (w *Writer) Put(object []byte) (Hash, error) {
	if len(object) > MaxObject {
		return Hash{}, fmt.Errorf("an object of %d bytes is over the limit of %d", len(object), MaxObject)
	}
	h := HashOf(object)
	if _, ok := w.p.index[h]; ok {
		return h, nil
	}
	if p, _ := w.s.find(h); p != nil {
		return h, nil
	}
	enc, _ := codec()
	return h, w.p.add(h, enc.EncodeAll(object, nil), uint32(len(object)))
}

// Added reports whether an object was added.
func (w *Writer) Added() bool { return len(w.p.index) > 0 }

var errNothing = errors.New("no new object")

// Write adds the objects that the function puts, in one pack with the name id. When it returns nil, they survive a
// power cut. If it returns an error, also that of the function, nothing was added. The caller holds the lock of the
// store.
func (s *Store) Write(id string, put func(*Writer) error) error {
	if err := s.prepare(); err != nil {
		return err
	}
	path := filepath.Join(s.dir, id+packSuffix)
	err := vfs.Replace(s.fs, path, 0o600, func(w io.Writer) error {
		p, err := newPackWriter(w)
		if err != nil {
			return err
		}
		if err := put(&Writer{s, p}); err != nil {
			return err
		}
		if len(p.index) == 0 {
			return errNothing
		}
		return p.close()
	})
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

// prepare makes the directory of the store and what is in it durable: an earlier writer may have died before it did.
func (s *Store) prepare() error {
	changed, err := vfs.MkdirAll(s.fs, s.dir)
	if err != nil {
		return err
	}
	for _, dir := range append(changed, filepath.Dir(s.dir), s.dir) {
		if err := s.fs.SyncDir(dir); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return errors.Join(s.removeUnfinished(), s.load())
}

// removeUnfinished removes the packs that writers have not finished.
func (s *Store) removeUnfinished() error {
	entries, err := s.fs.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.Contains(name, packSuffix+".") {
			err = errors.Join(err, s.fs.Remove(filepath.Join(s.dir, name)))
		}
	}
	return err
}

// Bytes returns the size of all packs, in bytes.
func (s *Store) Bytes() (n int64, err error) {
	if err := s.load(); err != nil {
		return 0, err
	}
	for _, p := range s.packs {
		n += p.size
	}
	return n, nil
}
