package main

import (
	"encoding/binary"

	"go.etcd.io/bbolt"
)

// bolt is etcd-io/bbolt with its defaults: a batch is a transaction on a B+ tree. The
// changed pages are written and synced with fdatasync(2), then the meta page that
// commits them. The pages are filled completely, as bbolt advises for increasing
// keys. NoSync omits both syncs.
type bolt struct {
	*bbolt.DB
}

var bucket = []byte("entries")

func openBolt(dir string, sync bool) (store, error) {
	db, err := bbolt.Open(dir, 0o600, &bbolt.Options{NoSync: !sync, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	return bolt{db}, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(bucket)
		return err
	})
}

func (b bolt) append(batch [][]byte) error {
	return b.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(bucket)
		bucket.FillPercent = 1
		for _, e := range batch {
			seq, err := bucket.NextSequence()
			if err != nil {
				return err
			}
			if err := bucket.Put(binary.BigEndian.AppendUint64(nil, seq), e); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b bolt) settle() error { return b.Sync() }
func (b bolt) close() error  { return b.Close() }
