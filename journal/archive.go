package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// archiveSource opens the compressed journal. Every opening reads from the
// beginning: what lies before the offset is decompressed and dropped.
func (f files) archiveSource(fsys FS) (source, io.Closer, error) {
	file, err := fsys.OpenFile(f.archivePath(), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return source{}, nil, fmt.Errorf("%s: %w", f.path(), ErrNotFound)
	}
	if err != nil {
		return source{}, nil, err
	}
	src := source{f.archivePath(), -1, func(offset int64) (io.ReadCloser, error) {
		return decompress(file, offset)
	}}
	return src, file, nil
}

// maxWindow bounds the memory that decompressing takes, in bytes, whatever a
// file asks for. It is what compress needs, and every level of the zstd program
// up to 19.
const maxWindow = 8 << 20

func decompress(file File, offset int64) (io.ReadCloser, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(io.NewSectionReader(file, 0, info.Size()),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	r := dec.IOReadCloser()
	if _, err := io.CopyN(io.Discard, r, offset); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Archive compresses a journal into the directory's archive. It returns a
// LockedError when somebody writes to it, and does nothing when it is archived
// already. A torn tail is set aside first. The journal disappears only after
// its archive was read back and compared.
func (d *Dir) Archive(id string) error {
	log, err := d.Open(id)
	if err != nil {
		return err
	}
	defer log.Close()
	if log.lockErr != nil {
		return log.lockErr
	}
	if log.archived {
		return nil
	}
	if err := log.settle(); err != nil {
		return err
	}
	return log.files.archive(d.fs)
}

func (f files) archive(fsys FS) error {
	if err := makeDir(fsys, filepath.Dir(f.archivePath())); err != nil {
		return err
	}
	tmp := f.archivePath() + tmpSuffix
	if err := f.compress(fsys, tmp); err != nil {
		fsys.Remove(tmp)
		return fmt.Errorf("archive %s: %w", f.path(), err)
	}
	// Crash here leaves the journal and a *.tmp that nobody reads.
	if err := fsys.Rename(tmp, f.archivePath()); err != nil {
		return err
	}
	if err := fsys.SyncDir(filepath.Dir(f.archivePath())); err != nil {
		return err
	}
	// Crash here leaves both: the journal wins.
	if err := fsys.Remove(f.path()); err != nil {
		return err
	}
	return fsys.SyncDir(f.dir)
}

// compress writes the journal to name, durably, and compares what can be read
// back with what was to be written.
func (f files) compress(fsys FS, name string) error {
	log, err := fsys.OpenFile(f.path(), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer log.Close()
	out, err := fsys.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_RDWR, fileMode)
	if err != nil {
		return err
	}
	defer out.Close()
	enc, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true), zstd.WithWindowSize(maxWindow))
	if err != nil {
		return err
	}
	if _, err := io.Copy(enc, log); err != nil {
		return err
	}
	if err := enc.Close(); err != nil {
		return err
	}
	if err := out.Sync(); err != nil {
		return err
	}
	return compare(log, out)
}

// compare reads both files from their beginnings.
func compare(log, archive File) error {
	info, err := log.Stat()
	if err != nil {
		return err
	}
	r, err := decompress(archive, 0)
	if err != nil {
		return err
	}
	defer r.Close()
	return sameBytes(io.NewSectionReader(log, 0, info.Size()), r)
}

var errDiffers = errors.New("what was written reads back differently")

func sameBytes(a, b io.Reader) error {
	bufA, bufB := make([]byte, blockSize), make([]byte, blockSize)
	for {
		n, errA := io.ReadFull(a, bufA)
		m, errB := io.ReadFull(b, bufB)
		if n != m || string(bufA[:n]) != string(bufB[:m]) {
			return errDiffers
		}
		if errA == nil && errB == nil {
			continue
		}
		for _, err := range []error{errA, errB} {
			if err != io.EOF && err != io.ErrUnexpectedEOF {
				return errors.Join(errDiffers, err)
			}
		}
		return nil
	}
}

// bringBack makes an archived journal a live one again. The archive's
// directory is left to be synced.
func (f files) bringBack(fsys FS) error {
	tmp := f.path() + tmpSuffix
	if err := f.extract(fsys, tmp); err != nil {
		fsys.Remove(tmp)
		return fmt.Errorf("bring back %s: %w", f.archivePath(), err)
	}
	// Crash here leaves the archive and a *.tmp that nobody reads.
	if err := fsys.Rename(tmp, f.path()); err != nil {
		return err
	}
	if err := fsys.SyncDir(f.dir); err != nil {
		return err
	}
	// Crash here leaves both: the journal wins.
	return fsys.Remove(f.archivePath())
}

func (f files) extract(fsys FS, name string) error {
	archive, err := fsys.OpenFile(f.archivePath(), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer archive.Close()
	r, err := decompress(archive, 0)
	if err != nil {
		return err
	}
	defer r.Close()
	out, err := fsys.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, r); err != nil {
		return err
	}
	return out.Sync()
}
