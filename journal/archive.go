package journal

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal/archive"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Archive compresses the journal into the directory's archive and closes the Log, also after
// an error. A torn tail is set aside first. The journal is removed only after its archive
// was read back and compared. When ctx is done before that, Archive stops with its error,
// and the journal stays. It does nothing to an archived journal.
func (l *Log) Archive(ctx context.Context) error {
	err := l.archive(ctx)
	if closeErr := l.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (l *Log) archive(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	switch {
	case l.lock == nil && l.lockErr != nil:
		return l.lockErr
	case !l.exists:
		return fmt.Errorf("%s: %w", l.files.Live(), ErrNotFound)
	case l.archived:
		return nil
	}
	if err := l.settle(); err != nil {
		return err
	}
	return l.dir.archive(ctx, l.files)
}

func (d *Dir) archive(ctx context.Context, f Files) error {
	if err := vfs.MakeDir(d.fs, filepath.Dir(f.Archive())); err != nil {
		return err
	}
	tmp := f.Archive() + tmpSuffix
	if err := d.compress(ctx, f, tmp); err != nil {
		d.fs.Remove(tmp)
		return fmt.Errorf("archive %s: %w", f.Live(), err)
	}
	// Crash here leaves the journal and a temporary file.
	if err := d.fs.Rename(tmp, f.Archive()); err != nil {
		return err
	}
	if err := d.fs.SyncDir(filepath.Dir(f.Archive())); err != nil {
		return err
	}
	// Crash here leaves both: the journal takes precedence.
	if err := d.fs.Remove(f.Live()); err != nil {
		return err
	}
	return d.fs.SyncDir(f.Dir)
}

// compress writes the archive of a journal to the file name and syncs it, after
// comparing what reads back with the journal. Reading back after the sync would
// add nothing: it, too, would read the page cache.
func (d *Dir) compress(ctx context.Context, f Files, name string) error {
	log, err := d.fs.OpenFile(f.Live(), os.O_RDONLY|vfs.NoLink, 0)
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
	progress := &progressCounter{report: d.progress, at: Progress{ID: f.ID, Total: 2 * info.Size()}}
	src := io.NewSectionReader(log, 0, info.Size())
	if err := archive.Write(ctx, out, src, d.frameSize, progress.add); err != nil {
		return err
	}
	return out.Sync()
}

// ArchiveSize returns the size in bytes of the archive that Archive would write of the first size bytes of a live
// journal. It compresses them, and writes nothing.
func (d *Dir) ArchiveSize(ctx context.Context, id string, size int64) (int64, error) {
	log, err := d.fs.OpenFile(Files{d.path, id}.Live(), os.O_RDONLY|vfs.NoLink, 0)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	progress := &progressCounter{report: d.progress, at: Progress{ID: id, Total: size}}
	return archive.Size(ctx, io.NewSectionReader(log, 0, size), d.frameSize, progress.add)
}

// unarchive turns an archived journal into a live one, as an Append does. It does nothing to a
// live one.
func (d *Dir) unarchive(ctx context.Context, id string) error {
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
	return d.fs.SyncDir(filepath.Dir(log.files.Archive()))
}

// unarchive turns an archived journal into a live one, which is open then. The caller
// syncs the archive's directory.
func (l *Log) unarchive() error {
	f, fsys, archived := l.files, l.dir.fs, l.opened
	live, err := f.replace(l.lock, archived, func(file vfs.File) error {
		return l.dir.extract(f.ID, archived.src, file)
	})
	if err != nil {
		return fmt.Errorf("unarchive %s: %w", f.Archive(), err)
	}
	archived.Close()
	l.opened = liveFile(f.Live(), live, archived.src.size)
	if err := fsys.SyncDir(f.Dir); err != nil {
		return err
	}
	// Crash here leaves both: the journal takes precedence.
	return fsys.Remove(f.Archive())
}

// extract writes the journal of an archive to w.
func (d *Dir) extract(id string, archived source, w io.Writer) error {
	r, err := archived.open(0)
	if err != nil {
		return err
	}
	defer r.Close()
	progress := &progressCounter{report: d.progress, at: Progress{ID: id, Unarchive: true, Total: archived.size}}
	_, err = io.CopyBuffer(w, io.TeeReader(r, progress), make([]byte, blockSize))
	if err != nil && !vfs.IsFileError(err) {
		if _, damage := archived.scanTail(Position{}, d.maxLine); damage != nil {
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
