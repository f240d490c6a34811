package objects

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// A pack is packMagic, the objects as one zstd frame each, the index and the trailer. The index has indexRow bytes for
// each object, in the order of the hashes: the hash, the offset as 8 bytes, and the lengths of the frame and of the
// object as 4 bytes each. The trailer has the offset of the index as 8 bytes, the number of objects and the CRC-32C of
// the index and of these two numbers as 4 bytes each. Numbers are big endian.
const (
	packMagic = "agent-chatter pack 1\n"
	indexRow  = len(Hash{}) + 8 + 4 + 4
	trailer   = 8 + 4 + 4
)

// MaxObject is the size of the largest object, in bytes.
const MaxObject = 1 << 30

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is where an object is in its pack.
type frame struct {
	offset int64
	length uint32 // compressed
	size   uint32
}

// DamagedError is the error of a pack or an object that does not have the bytes that were written.
type DamagedError struct {
	Path   string
	Reason string
}

func (e *DamagedError) Error() string { return e.Path + ": " + e.Reason }

// codec has what compresses and decompresses the objects of all stores.
var codec = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic(err) // the options are constants
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxObject))
	if err != nil {
		panic(err)
	}
	return enc, dec
})

// packWriter writes a pack.
type packWriter struct {
	w      io.Writer
	offset int64
	index  map[Hash]frame
}

func newPackWriter(w io.Writer) (*packWriter, error) {
	p := &packWriter{w: w, index: map[Hash]frame{}}
	n, err := io.WriteString(w, packMagic)
	p.offset = int64(n)
	return p, err
}

// add appends a frame.
func (p *packWriter) add(h Hash, compressed []byte, size uint32) error {
	if _, err := p.w.Write(compressed); err != nil {
		return err
	}
	p.index[h] = frame{p.offset, uint32(len(compressed)), size}
	p.offset += int64(len(compressed))
	return nil
}

// close appends the index and the trailer.
func (p *packWriter) close() error {
	index := make([]byte, 0, len(p.index)*indexRow+trailer)
	for _, h := range slices.SortedFunc(maps.Keys(p.index), compareHashes) {
		f := p.index[h]
		index = append(index, h[:]...)
		index = binary.BigEndian.AppendUint64(index, uint64(f.offset))
		index = binary.BigEndian.AppendUint32(index, f.length)
		index = binary.BigEndian.AppendUint32(index, f.size)
	}
	index = binary.BigEndian.AppendUint64(index, uint64(p.offset))
	index = binary.BigEndian.AppendUint32(index, uint32(len(p.index)))
	index = binary.BigEndian.AppendUint32(index, crc32.Checksum(index, castagnoli))
	_, err := p.w.Write(index)
	return err
}

func compareHashes(a, b Hash) int { return bytes.Compare(a[:], b[:]) }

// pack is a pack whose index is known.
type pack struct {
	path  string
	size  int64
	index map[Hash]frame
}

// readPack reads the index of a pack.
func readPack(fsys vfs.FS, path string) (*pack, error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY|vfs.NoLink, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p := &pack{path: path, size: info.Size(), index: map[Hash]frame{}}
	tail := make([]byte, trailer)
	if p.size < int64(len(packMagic)+trailer) {
		return nil, p.damaged("it is too short")
	}
	if _, err := f.ReadAt(tail, p.size-trailer); err != nil {
		return nil, err
	}
	start, count := int64(binary.BigEndian.Uint64(tail)), int64(binary.BigEndian.Uint32(tail[8:]))
	if start < int64(len(packMagic)) || start != p.size-trailer-count*int64(indexRow) {
		return nil, p.damaged("its last bytes do not say where the index is")
	}
	index := make([]byte, p.size-start)
	if _, err := f.ReadAt(index, start); err != nil {
		return nil, err
	}
	sum := len(index) - 4
	if crc32.Checksum(index[:sum], castagnoli) != binary.BigEndian.Uint32(index[sum:]) {
		return nil, p.damaged("the checksum of its index differs")
	}
	for row := range slices.Chunk(index[:len(index)-trailer], indexRow) {
		rest := row[len(Hash{}):]
		f := frame{
			int64(binary.BigEndian.Uint64(rest)), binary.BigEndian.Uint32(rest[8:]), binary.BigEndian.Uint32(rest[12:]),
		}
		if f.offset < int64(len(packMagic)) || f.offset > start-int64(f.length) || f.size > MaxObject {
			return nil, p.damaged("its index names bytes that it does not have")
		}
		p.index[Hash(row)] = f
	}
	return p, nil
}

func (p *pack) damaged(reason string) error { return &DamagedError{p.path, reason} }

// compressed returns the frame of an object of the pack.
func (p *pack) compressed(fsys vfs.FS, at frame) ([]byte, error) {
	f, err := fsys.OpenFile(p.path, os.O_RDONLY|vfs.NoLink, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, at.length)
	if _, err := f.ReadAt(data, at.offset); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, p.damaged("it has become shorter")
		}
		return nil, err
	}
	return data, nil
}

// read returns an object of the pack.
func (p *pack) read(fsys vfs.FS, h Hash, at frame) ([]byte, error) {
	data, err := p.compressed(fsys, at)
	if err != nil {
		return nil, err
	}
	_, dec := codec()
	object, err := dec.DecodeAll(data, make([]byte, 0, at.size))
	if err != nil {
		return nil, p.damaged(fmt.Sprintf("object %s cannot be decompressed: %v", h, err))
	}
	if HashOf(object) != h {
		return nil, p.damaged(fmt.Sprintf("the SHA-256 of object %s differs", h))
	}
	return object, nil
}
