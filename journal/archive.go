package journal

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Archive compresses a journal into the directory's archive. It returns a
// LockedError when somebody writes to it, and does nothing when it is archived
// already. A torn tail is set aside first. The journal disappears only after
// its archive was read back and compared.
func (d *Dir) Archive(id string) error {
	return d.archiveIf(id, func(Position) bool { return true })
}

// ArchiveAt archives a journal whose last good line ends at a position, as
// Archive does. It returns ErrChanged, and does nothing, when that is elsewhere.
func (d *Dir) ArchiveAt(id string, end Position) error {
	return d.archiveIf(id, func(at Position) bool { return at == end })
}

func (d *Dir) archiveIf(id string, expected func(end Position) bool) error {
	log, err := d.Open(id)
	if err != nil {
		return err
	}
	defer log.Close()
	if log.lockErr != nil {
		return log.lockErr
	}
	if !expected(log.Position()) {
		return fmt.Errorf("%s: %w", log.Path(), ErrChanged)
	}
	if log.archived {
		return nil
	}
	if err := log.settle(); err != nil {
		return err
	}
	return d.archive(log.files)
}

func (d *Dir) archive(f files) error {
	if err := makeDir(d.fs, filepath.Dir(f.archivePath())); err != nil {
		return err
	}
	tmp := f.archivePath() + tmpSuffix
	if err := d.compress(f, tmp); err != nil {
		d.fs.Remove(tmp)
		return fmt.Errorf("archive %s: %w", f.path(), err)
	}
	// Crash here leaves the journal and a *.tmp that nobody reads.
	if err := d.fs.Rename(tmp, f.archivePath()); err != nil {
		return err
	}
	if err := d.fs.SyncDir(filepath.Dir(f.archivePath())); err != nil {
		return err
	}
	// Crash here leaves both: the journal wins.
	if err := d.fs.Remove(f.path()); err != nil {
		return err
	}
	return d.fs.SyncDir(f.dir)
}

// compress writes the journal to name, durably, and compares what can be read
// back with what was to be written. Before the sync it is read from where it is
// read after it, too: the system's memory.
func (d *Dir) compress(f files, name string) error {
	log, err := d.fs.OpenFile(f.path(), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return err
	}
	out, err := d.fs.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_RDWR, fileMode)
	if err != nil {
		return err
	}
	defer out.Close()
	far := &traveller{tell: d.progress, at: Progress{ID: f.id, Total: 2 * info.Size()}}
	if err := pack(out, io.NewSectionReader(log, 0, info.Size()), d.frameSize, far); err != nil {
		return err
	}
	return out.Sync()
}

// bringBack makes an archived journal a live one again. The archive's
// directory is left to be synced.
func (d *Dir) bringBack(f files) error {
	tmp := f.path() + tmpSuffix
	if err := d.extract(f, tmp); err != nil {
		d.fs.Remove(tmp)
		return fmt.Errorf("bring back %s: %w", f.archivePath(), err)
	}
	// Crash here leaves the archive and a *.tmp that nobody reads.
	if err := d.fs.Rename(tmp, f.path()); err != nil {
		return err
	}
	if err := d.fs.SyncDir(f.dir); err != nil {
		return err
	}
	// Crash here leaves both: the journal wins.
	return d.fs.Remove(f.archivePath())
}

// extract writes the journal of an archive to name, durably.
func (d *Dir) extract(f files, name string) error {
	src, archive, err := f.archiveSource(d.fs)
	if err != nil {
		return err
	}
	defer archive.Close()
	r, err := src.open(0)
	if err != nil {
		return err
	}
	defer r.Close()
	out, err := d.fs.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	defer out.Close()
	far := &traveller{tell: d.progress, at: Progress{ID: f.id, Back: true, Total: src.size}}
	_, err = io.CopyBuffer(out, io.TeeReader(r, far), make([]byte, blockSize))
	if err != nil && !isOfDisk(err) {
		if _, damage := src.scanEnding(Position{}, d.maxLine); damage != nil {
			err = damage // it names the line
		}
	}
	if err != nil {
		return err
	}
	return out.Sync()
}

// traveller tells how far a journal has come.
type traveller struct {
	tell func(Progress) // nil: nobody listens
	at   Progress
}

func (t *traveller) add(n int64) {
	t.at.Done += n
	if t.tell != nil {
		t.tell(t.at)
	}
}

// Write adds what passes by.
func (t *traveller) Write(b []byte) (int, error) {
	t.add(int64(len(b)))
	return len(b), nil
}
