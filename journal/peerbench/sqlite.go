package main

import (
	"database/sql"
	"fmt"

	_ "modernc.org/sqlite"
)

// sqlite is SQLite, translated to Go: a batch is a transaction of inserts, written to
// the write-ahead log page by page and synced with one fsync(2) (journal_mode=WAL,
// synchronous=FULL). Every 1,000 pages the log is checkpointed. Without sync it uses
// synchronous=OFF.
type sqlite struct {
	db     *sql.DB
	insert *sql.Stmt
}

func openSQLite(dir string, sync bool) (store, error) {
	synchronous := map[bool]string{true: "FULL", false: "OFF"}[sync]
	source := fmt.Sprintf("file:%s?_pragma=journal_mode(WAL)&_pragma=synchronous(%s)", dir, synchronous)
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE entries (seq INTEGER PRIMARY KEY, data BLOB NOT NULL)"); err != nil {
		return nil, err
	}
	insert, err := db.Prepare("INSERT INTO entries (data) VALUES (?)")
	return sqlite{db, insert}, err
}

func (s sqlite) append(batch [][]byte) error {
	if len(batch) == 1 {
		_, err := s.insert.Exec(batch[0])
		return err
	}
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	insert := tx.Stmt(s.insert)
	for _, e := range batch {
		if _, err := insert.Exec(e); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s sqlite) settle() error { return nil }
func (s sqlite) close() error  { return s.db.Close() }
