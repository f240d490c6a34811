package main

import (
	"github.com/agent-chatter/agent-chatter/journal"
)

// log is this repository's journal: Append writes a batch as lines of JSON
// with one write(2), behind a chain of checksums, and Sync is an fdatasync(2).
// Everything is as in the program.
type log struct {
	*journal.Log
	sync bool
}

func openJournal(dir string, sync bool) (store, error) {
	d := journal.NewDir(dir, journal.Options{})
	l, err := d.Create(d.NewID())
	return log{l, sync}, err
}

func (l log) append(batch [][]byte) error {
	records := make([]journal.Record, len(batch))
	for i, e := range batch {
		records[i] = journal.Record{Type: "message.appended", Data: e, Compact: true}
	}
	if _, err := l.Append(records...); err != nil || !l.sync {
		return err
	}
	return l.Sync()
}

func (l log) settle() error { return l.Sync() }
func (l log) close() error  { return l.Close() }
