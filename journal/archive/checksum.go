package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
)

// The last frame of an archive before the seek table is a skippable one with a
// checksum:
//
//	4 bytes  0x184D2A5C
//	4 bytes  4
//	4 bytes  CRC-32C over the bytes of the file before and after this frame
//
// The frames have checksums of what they hold, and the lines have theirs. This one
// also covers bits that decompression ignores, so that no changed byte of an archive
// passes as valid. An archive that starts with fileMark has it; those of earlier
// versions have an empty mark and none.
const (
	checksumMagic = 0x184D2A5C
	checksumLen   = skippableHeaderLen + 4
)

func checksumHeader() []byte {
	return binary.LittleEndian.AppendUint64(nil, 4<<32|checksumMagic)
}

// appendChecksum appends the frame with the checksum. sum is that of the bytes before
// it.
func appendChecksum(dst []byte, sum uint32, after []byte) []byte {
	dst = append(dst, checksumHeader()...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Update(sum, castagnoli, after))
}

// Intact reports whether the file has the bytes that were written, also those that do not
// matter to the journal. An archive of a version of this package that wrote no checksum
// counts as intact. When ctx is done, it stops with its error.
func (a *Archive) Intact(ctx context.Context) (ok bool, err error) {
	mark, err := readRange(a.file, 0, int64(len(fileMark)))
	if err == errNoTable {
		return true, nil // too short for a mark
	}
	if err != nil {
		return false, err
	}
	last := frame{}
	if len(a.frames) > 0 {
		last = a.frames[len(a.frames)-1]
	}
	stored := make([]byte, checksumLen)
	if last.fileSize == checksumLen && last.size == 0 {
		if _, err := a.file.ReadAt(stored, last.fileOffset); err != nil {
			return false, err
		}
	}
	if !bytes.HasPrefix(stored, checksumHeader()) {
		return !bytes.Equal(mark, fileMark), nil
	}
	info, err := a.file.Stat()
	if err != nil {
		return false, err
	}
	sum := crc32.New(castagnoli)
	for _, part := range [][2]int64{{0, last.fileOffset}, {last.fileEnd(), info.Size()}} {
		for block := make([]byte, blockSize); part[0] < part[1]; part[0] += int64(len(block)) {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			block = block[:min(int64(len(block)), part[1]-part[0])]
			if n, err := a.file.ReadAt(block, part[0]); n < len(block) {
				return false, err
			}
			sum.Write(block)
		}
	}
	return sum.Sum32() == binary.LittleEndian.Uint32(stored[skippableHeaderLen:]), nil
}
