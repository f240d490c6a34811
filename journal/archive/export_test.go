package archive

import (
	"bytes"
	"io"
)

// CompressAll compresses a journal as for its archive, on one core, and returns the length
// of its frames in bytes.
func CompressAll(data []byte) (size int64, err error) {
	journal := io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data)))
	w := &writer{journal: journal, frameSize: maxFrame, want: make([]byte, blockSize)}
	encoders, err := newEncoders(journal.Size(), maxFrame)
	if err != nil {
		return 0, err
	}
	for at, end := int64(0), int64(0); at < journal.Size(); at = end {
		if end, err = w.frameEnd(at); err != nil {
			return 0, err
		}
		encoders[0].start(journal, at, end-at)
		encoders[0].working.Wait()
		if encoders[0].err != nil {
			return 0, encoders[0].err
		}
		size += int64(encoders[0].compressed.Len())
	}
	return size, nil
}
