package main

import "github.com/tidwall/wal"

// tidwall is tidwall/wal with its defaults: binary entries without checksums in
// segments of 20 MB, one write(2) per batch, then fsync(2). NoSync omits the fsync.
type tidwall struct {
	*wal.Log
	last uint64
}

func openTidwall(dir string, sync bool) (store, error) {
	options := *wal.DefaultOptions
	options.NoSync = !sync
	l, err := wal.Open(dir, &options)
	return &tidwall{Log: l}, err
}

func (t *tidwall) append(batch [][]byte) error {
	var b wal.Batch
	for _, e := range batch {
		t.last++
		b.Write(t.last, e)
	}
	return t.WriteBatch(&b)
}

func (t *tidwall) settle() error { return t.Sync() }
func (t *tidwall) close() error  { return t.Close() }
