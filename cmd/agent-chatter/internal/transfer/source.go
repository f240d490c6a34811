package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// What a compressed file may need: the memory of its decoder, and the length of its
// content, in bytes. A small file can have a content without end.
const (
	maxWindow       = 128 << 20
	maxDecompressed = 2 << 30
)

// openSource opens a file to import. The name of a compressed one ends in .zst.
func openSource(path string) (io.ReadCloser, fs.FileInfo, error) {
	f, err := regularfile.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	if !strings.HasSuffix(path, ".zst") {
		return f, info, nil
	}
	d, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return &compressedFile{d: d, f: f, left: maxDecompressed}, info, nil
}

// compressedFile reads the content of a compressed file up to a limit.
type compressedFile struct {
	d    *zstd.Decoder
	f    *os.File
	left int64 // bytes up to the limit
	cut  *bool // set if the rest of the file is missing or damaged, which is no error then; nil: it is one
	read bool  // something was read
}

func (c *compressedFile) Read(p []byte) (int, error) {
	n, err := c.d.Read(p)
	c.read = c.read || n > 0
	damaged := err != nil && err != io.EOF && !errors.As(err, new(*fs.PathError))
	if damaged && c.read && c.cut != nil {
		*c.cut = true
		err = io.EOF
	}
	if c.left -= int64(n); c.left < 0 {
		err = fmt.Errorf("the content is larger than the limit of %d bytes", int64(maxDecompressed))
	}
	return n, err
}

func (c *compressedFile) Close() error {
	c.d.Close()
	return c.f.Close()
}

// allowCut makes a missing or damaged end of a compressed file no error, but sets cut.
func allowCut(f io.Reader, cut *bool) {
	if c, ok := f.(*compressedFile); ok {
		c.cut = cut
	}
}

// fileSource returns the file of a transcript. It must be the same each time it is opened: what an earlier
// reading found would be false of another file. It may have grown. Reading ends when ctx is done.
// Of a compressed file whose end is missing or damaged, the rest is read, and cut is set.
func fileSource(ctx context.Context, path string, cut *bool) interchange.Source {
	var first fs.FileInfo
	src := interchange.Source{Path: path, File: otherFile(ctx), List: entriesOf}
	src.Open = func() (io.ReadCloser, error) {
		f, info, err := openSource(path)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = info
		}
		if !os.SameFile(first, info) || info.Size() < first.Size() {
			f.Close()
			return nil, app.Exit(app.ExitFailed, replacedText(path))
		}
		allowCut(f, cut)
		return contextFile{f, ctx}, nil
	}
	if info, err := os.Stat(path); err == nil {
		src.Modified = info.ModTime()
	}
	return src
}

// otherFile returns interchange.Source.File. A symbolic link is no file of a transcript: it may lead anywhere.
func otherFile(ctx context.Context) func(path string) (interchange.Source, bool) {
	return func(path string) (interchange.Source, bool) {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			return interchange.Source{}, false
		}
		return fileSource(ctx, path, new(bool)), true
	}
}

// entriesOf is interchange.Source.List.
func entriesOf(dir string) []fs.DirEntry {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	return entries
}

// contextFile is a file that can be read until a context is done.
type contextFile struct {
	io.ReadCloser
	ctx context.Context
}

func (f contextFile) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.ReadCloser.Read(p)
}

// replacedText is for a file that is another one than it was at its first reading.
func replacedText(path string) app.Message {
	return app.Text("%s was replaced or truncated while it was imported.", tty.SafeLine(path)).
		With(app.To("import it as it is now", "sessions", "import", path))
}
