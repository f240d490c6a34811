package transfer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// knownFormats are the formats of files with sessions, as --format names them. The first
// three have sessions with their own ids, the others are those of other programs.
var knownFormats = []string{
	interchange.JournalFormat, interchange.BundleFormat, interchange.SnapshotFormat,
	"claude", "codex", "gemini", "opencode", "pi", "claude-master", "synapse",
}

// isTranscript reports whether a format is that of another program's transcripts.
func isTranscript(format string) bool {
	return slices.Contains(knownFormats[3:], format)
}

// DetectFormat returns the format of a file as interchange.Detect does.
func DetectFormat(path string) (string, error) {
	if app.IsArchive(path) && app.InArchive(path) {
		return interchange.JournalFormat, nil
	}
	f, _, err := openSource(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	format, err := interchange.Detect(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return format, err
}

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
	return &compressedFile{d, f, maxDecompressed}, info, nil
}

// compressedFile reads the content of a compressed file up to a limit.
type compressedFile struct {
	d    *zstd.Decoder
	f    *os.File
	left int64 // bytes up to the limit
}

func (c *compressedFile) Read(p []byte) (int, error) {
	n, err := c.d.Read(p)
	if c.left -= int64(n); c.left < 0 {
		err = fmt.Errorf("the content is larger than the limit of %d bytes", int64(maxDecompressed))
	}
	return n, err
}

func (c *compressedFile) Close() error {
	c.d.Close()
	return c.f.Close()
}

// UnknownFormatText reports that the format of a file was not detected.
func UnknownFormatText(path string) app.Message {
	last := len(knownFormats) - 1
	return app.Text("%s has an unknown format. Known formats are %s and %s.",
		tty.SafeLine(path), strings.Join(knownFormats[:last], ", "), knownFormats[last]).With(
		app.To("read where their files are", "guide", "import"),
		app.To("import it in a format anyway", "sessions", "import", "--format", "FORMAT", path))
}
