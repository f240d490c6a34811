package main

import (
	"github.com/agent-chatter/agent-chatter/journal"
)

// log is this repository's journal, configured as in the program: Append writes a
// batch as lines of JSON with chained checksums, with one write(2), and Sync is one
// fdatasync(2).
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
