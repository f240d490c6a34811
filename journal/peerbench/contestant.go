package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
)

// store stores the entries of a contestant.
type store interface {
	// append appends a batch. It returns when the batch is on the disk or,
	// without sync, when the operating system has it.
	append(batch [][]byte) error
	// settle syncs what was appended without sync. It is not measured.
	settle() error
	close() error
}

// contestant is a way to store entries.
type contestant struct {
	name string
	open func(dir string, sync bool) (store, error) // dir does not exist yet
	sync bool                                       // cannot run without sync
}

// contestants are compared to the first one.
var contestants = []contestant{
	{name: "bare file", open: openBare},
	{name: "agent-chatter/journal", open: openJournal},
	{name: "tidwall/wal", open: openTidwall},
	{name: "hashicorp/raft-wal", open: openRaft, sync: true},
	{name: "etcd-io/bbolt", open: openBolt},
	{name: "SQLite (modernc.org)", open: openSQLite},
}

// setting is the number of entries per batch, and whether an append syncs.
type setting struct {
	batch int
	sync  bool
}

var settings = []setting{{1, true}, {10, true}, {1, false}, {10, false}}

func (s setting) String() string {
	what := map[bool]string{true: "on the disk", false: "written, not synced"}[s.sync]
	if s.batch == 1 {
		return "one entry at a time, " + what
	}
	return fmt.Sprintf("%d entries at a time, %s", s.batch, what)
}

func (s setting) contestants() (in []contestant) {
	for _, c := range contestants {
		if s.sync || !c.sync {
			in = append(in, c)
		}
	}
	return in
}

// sizes of the entries, in bytes.
var sizes = []int{300, 2_000, 20_000, 70_001}

// start opens a contestant's store in a directory below dir.
func (c contestant) start(dir string, s setting) (store, error) {
	st, err := c.open(filepath.Join(dir, filepath.Base(c.name)), s.sync)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return st, nil
}

// entries returns a batch of n different entries of a size in bytes: JSON objects with
// text as people and models write it.
func entries(r *rand.Rand, n, size int) (batch [][]byte) {
	for range n {
		batch = append(batch, entry(r, size))
	}
	return batch
}

var words = []string{
	"the ", "journal ", "keeps ", "every ", "word ", "of ", "a ", "conversation, ", "which ", "rarely ",
	"writes ", "größer ", "than ", "it ", "is ", "— ", "at ", `all.\n`, `\"quoted\" `, `x := f(y)\n\t`,
}

func entry(r *rand.Rand, size int) []byte {
	const end = `"}`
	e := fmt.Appendf(make([]byte, 0, size), `{"id":"%016x","content":"`, r.Uint64())
	for {
		w := words[r.IntN(len(words))]
		if len(e)+len(w)+len(end) > size {
			break
		}
		e = append(e, w...)
	}
	e = append(e, bytes.Repeat([]byte("."), size-len(e)-len(end))...)
	return append(e, end...)
}
