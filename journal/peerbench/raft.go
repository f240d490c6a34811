package main

import (
	"io"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
)

// raftWAL is hashicorp/raft-wal with its defaults: frames with a checksum per batch,
// in segments of 64 MiB that are allocated in advance, one write(2) per batch, then
// fsync(2). It cannot run without sync.
type raftWAL struct {
	*wal.WAL
	last uint64
}

func openRaft(dir string, _ bool) (store, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	w, err := wal.Open(dir, wal.WithLogger(hclog.New(&hclog.LoggerOptions{Output: io.Discard})))
	return &raftWAL{WAL: w}, err
}

func (r *raftWAL) append(batch [][]byte) error {
	logs := make([]*raft.Log, len(batch))
	for i, e := range batch {
		r.last++
		logs[i] = &raft.Log{Index: r.last, Data: e}
	}
	return r.StoreLogs(logs)
}

func (r *raftWAL) settle() error { return nil }
func (r *raftWAL) close() error  { return r.Close() }
