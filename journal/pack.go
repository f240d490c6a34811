package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxFrame is how much of a journal goes into one frame of its archive, in
// bytes. A frame is compressed with all of it in sight, so that a file of a
// megabyte that is quoted again and again is stored once a frame; and whoever
// looks for one line decompresses one frame.
const maxFrame = 16 << 20

// maxPackers bounds how many frames are compressed at once. Each takes maxFrame
// of memory, and what comes out of it; reading back takes maxFrame once.
const maxPackers = 4

// packing is a journal on its way into an archive. While some frames are being
// compressed, the one before them is written, read back and compared.
type packing struct {
	journal   *io.SectionReader
	archive   *archived // what is written of it
	frameSize int64     // at most
	got, want []byte    // to compare
	far       *traveller
}

// pack writes the archive of a journal, and returns an error unless all of the
// journal can be read back from it.
func pack(archive File, journal *io.SectionReader, frameSize int64, far *traveller) error {
	p := &packing{
		journal: journal, archive: &archived{file: archive}, frameSize: frameSize,
		got: make([]byte, blockSize), want: make([]byte, blockSize), far: far,
	}
	if err := p.write(archiveMark, 0); err != nil {
		return err
	}
	if err := p.writeFrames(); err != nil {
		return err
	}
	if _, err := archive.Write(appendTable(nil, p.archive.frames)); err != nil {
		return err
	}
	return p.compareTable()
}

// writeFrames lets the packers take turns, so that the frames come in order.
func (p *packing) writeFrames() error {
	packers, err := newPackers(p.journal.Size(), p.frameSize)
	if err != nil {
		return err
	}
	defer func() {
		for _, packer := range packers {
			packer.working.Wait()
		}
	}()
	begun := int64(0)
	for turn := 0; p.archive.size < p.journal.Size(); turn++ {
		packer := packers[turn%len(packers)]
		if err := p.finish(packer); err != nil {
			return err
		}
		end, err := p.frameEnd(begun)
		if err != nil {
			return err
		}
		packer.begin(p.journal, begun, end-begun)
		begun = end
	}
	return nil
}

// frameEnd is where the frame ends that begins at an offset: with a line, unless
// the line alone is longer than a frame.
func (p *packing) frameEnd(begin int64) (int64, error) {
	last := min(begin+p.frameSize, p.journal.Size())
	for end := last; end > begin; {
		block := p.want[:min(end-begin, blockSize)]
		end -= int64(len(block))
		if n, err := p.journal.ReadAt(block, end); n < len(block) {
			return 0, err
		}
		if i := bytes.LastIndexByte(block, '\n'); i >= 0 {
			return end + int64(i) + 1, nil
		}
	}
	return last, nil
}

// finish adds the frame of a packer to the archive.
func (p *packing) finish(packer *packer) error {
	packer.working.Wait()
	if packer.err != nil || packer.size == 0 {
		return packer.err
	}
	at := p.archive.size
	if err := p.write(packer.packed.Bytes(), packer.size); err != nil {
		return err
	}
	p.far.add(packer.size)
	if err := p.compare(at); err != nil {
		return err
	}
	p.far.add(packer.size)
	return nil
}

// write appends a frame with so many bytes of the journal.
func (p *packing) write(packed []byte, size int64) error {
	f := frame{at: p.archive.size, size: size, packedSize: int64(len(packed))}
	if n := len(p.archive.frames); n > 0 {
		f.packedAt = p.archive.frames[n-1].packedEnd()
	}
	p.archive.frames, p.archive.size = append(p.archive.frames, f), f.end()
	_, err := p.archive.file.Write(packed)
	return err
}

var errDiffers = errors.New("what was written reads back differently")

// compare reads the archive from an offset on as its readers will, and returns
// an error unless that is what the journal has there.
func (p *packing) compare(at int64) error {
	archive, err := p.archive.open(at)
	if err != nil {
		return err
	}
	defer archive.Close()
	for {
		n, err := archive.Read(p.got)
		if m, err := p.journal.ReadAt(p.want[:n], at); m < n {
			return err
		}
		switch {
		case !bytes.Equal(p.got[:n], p.want[:n]):
			return errDiffers
		case err == io.EOF: // behind all that the frame should have
			return nil
		case err != nil:
			return fmt.Errorf("%w: %w", errDiffers, err)
		}
		at += int64(n)
	}
}

// compareTable returns an error unless readers will find the frames.
func (p *packing) compareTable() error {
	again, err := openArchived(p.archive.file)
	if err == nil && !slices.Equal(again.frames, p.archive.frames) {
		return errDiffers
	}
	return err
}

// packer compresses one frame after another.
type packer struct {
	enc     *zstd.Encoder
	working sync.WaitGroup
	size    int64 // of the part of the journal that it compresses; 0: none
	packed  bytes.Buffer
	err     error
}

// newPackers are as many as there are cores, but no more than a journal of the
// given size needs.
func newPackers(size, frameSize int64) ([]*packer, error) {
	packers := make([]*packer, min(maxPackers, int64(runtime.GOMAXPROCS(0)), 1+size/frameSize))
	for i := range packers {
		// What never repeats, such as a picture in base64, is packed by its letters all the same.
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true), zstd.WithAllLitEntropyCompression(true),
			zstd.WithWindowSize(windowOf(min(size, frameSize))), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil, err
		}
		packers[i] = &packer{enc: enc}
	}
	return packers, nil
}

// windowOf is the least window that has so many bytes in sight. A smaller one
// would take longer: most of the time goes into moving it along.
func windowOf(size int64) int {
	return max(zstd.MinWindowSize, 1<<bits.Len64(uint64(max(size, 1)-1)))
}

// begin compresses a part of a journal, if there is any, and does not wait.
func (p *packer) begin(journal io.ReaderAt, at, size int64) {
	if p.size = size; size == 0 {
		return
	}
	p.packed.Reset()
	p.enc.ResetContentSize(&p.packed, size)
	p.working.Go(func() {
		if _, p.err = p.enc.ReadFrom(io.NewSectionReader(journal, at, size)); p.err == nil {
			p.err = p.enc.Close()
		}
	})
}
