package archive

import (
	"encoding/binary"
	"errors"
	"io"
)

// An archive is a file of the zstd seekable format, version 0.1.0
// (https://github.com/facebook/zstd/blob/dev/contrib/seekable_format/zstd_seekable_compression_format.md):
// frames that can be decompressed independently, and a table of their sizes in a
// skippable frame at the end, which other programs skip. All numbers are
// little-endian.
//
//	4 bytes  0x184D2A5E
//	4 bytes  length of the following bytes
//	8 bytes  for each frame: its size in the file, its size decompressed
//	4 bytes  number of frames
//	1 byte   bit 7: each frame has 4 more bytes, a checksum; bits 6 to 2 are 0
//	4 bytes  0x8F92EAB1
//
// The table is written without checksums, since each frame has its own. The
// first frame is a skippable one, the mark: an archive that starts with it
// and does not end in a table is truncated. A file without the mark was compressed
// by another program, or by a version that wrote no tables.
const (
	tableMagic  = 0x184D2A5E
	markMagic   = 0x184D2A5D
	footerMagic = 0x8F92EAB1

	skippableHeaderLen = 8 // the magic number and the length
	tableFooterLen     = 9
	tableEntryLen      = 8
	tableChecksumLen   = 4
	tableChecksums     = 0x80
	tableReserved      = 0x7c

	// maxFrames bounds the memory for the table of a malformed file.
	maxFrames = 1 << 20
)

// fileMark is the first frame of an archive, and emptyMark that of one without a
// checksum, as earlier versions wrote it.
var (
	emptyMark = binary.LittleEndian.AppendUint64(nil, markMagic)
	fileMark  = append(binary.LittleEndian.AppendUint64(nil, 8<<32|markMagic), "checksum"...)
)

// errNoTable means that the archive can only be decompressed from its start.
var errNoTable = errors.New("the seek table at its end is missing or damaged")

// frame is a part of an archive that can be decompressed independently.
type frame struct {
	fileOffset, fileSize int64 // in the file, in bytes
	offset, size         int64 // in the journal, in bytes
}

func (f frame) end() int64     { return f.offset + f.size }
func (f frame) fileEnd() int64 { return f.fileOffset + f.fileSize }

// appendTable appends the seek table of an archive with these frames, which
// include the mark.
func appendTable(dst []byte, frames []frame) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, tableMagic)
	dst = le.AppendUint32(dst, uint32(len(frames)*tableEntryLen+tableFooterLen))
	for _, f := range frames {
		dst = le.AppendUint32(dst, uint32(f.fileSize))
		dst = le.AppendUint32(dst, uint32(f.size))
	}
	dst = le.AppendUint32(dst, uint32(len(frames)))
	dst = append(dst, 0)
	return le.AppendUint32(dst, footerMagic)
}

// readTable returns the frames of an archive of the given size, including empty
// ones, or errNoTable.
func readTable(file io.ReaderAt, size int64) ([]frame, error) {
	footer, err := readRange(file, size-tableFooterLen, size)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	count, flags := int64(le.Uint32(footer)), footer[4]
	if le.Uint32(footer[5:]) != footerMagic || flags&tableReserved != 0 || count > maxFrames {
		return nil, errNoTable
	}
	entryLen := int64(tableEntryLen)
	if flags&tableChecksums != 0 {
		entryLen += tableChecksumLen
	}
	start := size - tableFooterLen - count*entryLen - skippableHeaderLen
	table, err := readRange(file, start, size-tableFooterLen)
	if err != nil {
		return nil, err
	}
	if le.Uint32(table) != tableMagic || int64(le.Uint32(table[4:])) != count*entryLen+tableFooterLen {
		return nil, errNoTable
	}
	var frames []frame
	next := frame{}
	for entry := table[skippableHeaderLen:]; len(entry) > 0; entry = entry[entryLen:] {
		next = frame{
			fileOffset: next.fileEnd(), fileSize: int64(le.Uint32(entry)),
			offset: next.end(), size: int64(le.Uint32(entry[4:])),
		}
		frames = append(frames, next)
	}
	if next.fileEnd() != start {
		return nil, errNoTable
	}
	return frames, nil
}

// readRange reads a part of a file. It returns errNoTable if the file is too
// short.
func readRange(file io.ReaderAt, from, to int64) ([]byte, error) {
	if from < 0 {
		return nil, errNoTable
	}
	part := make([]byte, to-from)
	n, err := file.ReadAt(part, from)
	switch {
	case n == len(part):
		return part, nil
	case err == io.EOF:
		return nil, errNoTable
	}
	return nil, err
}
