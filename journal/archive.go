package journal

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Archive compresses a journal into the directory's archive. It returns a
// LockedError if the journal has a writer, and does nothing if it is archived
// already. A torn tail is set aside first. The journal is removed only after
// its archive was read back and compared. When ctx is done before that, Archive
// stops with its error, and the journal stays.
func (d *Dir) Archive(ctx context.Context, id string) error {
	return d.archiveIf(ctx, id, func(Position) bool { return true })
}

// ArchiveAt is Archive for a journal whose last valid line ends at a position.
// It returns ErrChanged, and does nothing, if that line ends elsewhere.
func (d *Dir) ArchiveAt(ctx context.Context, id string, end Position) error {
	return d.archiveIf(ctx, id, func(at Position) bool { return at == end })
}

func (d *Dir) archiveIf(ctx context.Context, id string, expected func(end Position) bool) error {
	log, err := d.Open(ctx, id)
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
	return d.archive(ctx, log.files)
}

func (d *Dir) archive(ctx context.Context, f files) error {
	if err := vfs.MakeDir(d.fs, filepath.Dir(f.archivePath())); err != nil {
		return err
	}
	tmp := f.archivePath() + tmpSuffix
	if err := d.compress(ctx, f, tmp); err != nil {
		d.fs.Remove(tmp)
		return fmt.Errorf("archive %s: %w", f.path(), err)
	}
	// Crash here leaves the journal and a temporary file.
	if err := d.fs.Rename(tmp, f.archivePath()); err != nil {
		return err
	}
	if err := d.fs.SyncDir(filepath.Dir(f.archivePath())); err != nil {
		return err
	}
	// Crash here leaves both: the journal takes precedence.
	if err := d.fs.Remove(f.path()); err != nil {
		return err
	}
	return d.fs.SyncDir(f.dir)
}

// compress writes the archive of a journal to the file name and syncs it, after
// comparing what reads back with the journal. Reading back after the sync would
// add nothing: it, too, would read the page cache.
func (d *Dir) compress(ctx context.Context, f files, name string) error {
	log, err := d.fs.OpenFile(f.path(), os.O_RDONLY|vfs.NoLink, 0)
	if err != nil {
		return err
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return err
	}
	out, err := createLike(d.fs, name, log)
	if err != nil {
		return err
	}
	defer out.Close()
	progress := &progressCounter{report: d.progress, at: Progress{ID: f.id, Total: 2 * info.Size()}}
	src := io.NewSectionReader(log, 0, info.Size())
	if err := writeArchive(ctx, out, src, d.frameSize, progress); err != nil {
		return err
	}
	return out.Sync()
}

// Unarchive turns an archived journal into a live one, as an Append does. It does nothing to a live one. Errors:
// ErrNotFound; a *LockedError; a *CorruptError of the archive, which stays.
func (d *Dir) Unarchive(ctx context.Context, id string) error {
	log, err := d.Open(ctx, id)
	if err != nil {
		return err
	}
	defer log.Close()
	if log.lockErr != nil || !log.archived {
		return log.lockErr
	}
	if err := log.unarchive(); err != nil {
		return err
	}
	log.archived = false
	return d.fs.SyncDir(filepath.Dir(log.files.archivePath()))
}

// unarchive turns an archived journal into a live one, which is open then. The caller
// syncs the archive's directory.
func (l *Log) unarchive() error {
	f, fsys, archive := l.files, l.dir.fs, l.opened
	live, err := f.replace(l.lock, archive, func(file vfs.File) error {
		return l.dir.extract(f.id, archive.src, file)
	})
	if err != nil {
		return fmt.Errorf("unarchive %s: %w", f.archivePath(), err)
	}
	archive.Close()
	l.opened = liveFile(f.path(), live, archive.src.size)
	if err := fsys.SyncDir(f.dir); err != nil {
		return err
	}
	// Crash here leaves both: the journal takes precedence.
	return fsys.Remove(f.archivePath())
}

// extract writes the journal of an archive to w.
func (d *Dir) extract(id string, archive source, w io.Writer) error {
	r, err := archive.open(0)
	if err != nil {
		return err
	}
	defer r.Close()
	progress := &progressCounter{report: d.progress, at: Progress{ID: id, Unarchive: true, Total: archive.size}}
	_, err = io.CopyBuffer(w, io.TeeReader(r, progress), make([]byte, blockSize))
	if err != nil && !isFileError(err) {
		if _, damage := archive.scanTail(Position{}, d.maxLine); damage != nil {
			err = damage // it has the line
		}
	}
	return err
}

// progressCounter counts the bytes of a journal that are done, and reports them.
type progressCounter struct {
	report func(Progress) // may be nil
	at     Progress
}

func (p *progressCounter) add(n int64) {
	p.at.Done += n
	if p.report != nil {
		p.report(p.at)
	}
}

// Write counts the bytes of b.
func (p *progressCounter) Write(b []byte) (int, error) {
	p.add(int64(len(b)))
	return len(b), nil
}
