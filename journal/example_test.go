package journal_test

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
)

func ExampleDir_Create() {
	path, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(path)
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	dir := journal.NewDir(path, journal.Options{Now: func() time.Time { return noon }})

	kettle, err := dir.Create(dir.NewID())
	if err != nil {
		log.Fatal(err)
	}
	if _, err := kettle.Append(
		journal.Record{Type: "water.poured", Data: json.RawMessage(`{"litres":1.5}`)},
		journal.Record{Type: "kettle.started", Data: json.RawMessage(`{"celsius":21}`)},
	); err != nil {
		log.Fatal(err)
	}
	if err := kettle.Sync(); err != nil {
		log.Fatal(err)
	}
	if _, err := kettle.Append(journal.Record{Type: "tea.made",
		Data: json.RawMessage(`{"cups":2}`)}); err != nil {
		log.Fatal(err)
	}
	if err := kettle.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := dir.Reader(kettle.ID(), journal.Position{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for e, err := range r.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", e.Line())
	}
	// Output:
	// {"seq":1,"time":"2026-11-21T12:00:00.000000Z","type":"water.poured","data":{"litres":1.5},"sum":"b1377f53"}
	// {"seq":2,"time":"2026-11-21T12:00:00.000000Z","type":"kettle.started","data":{"celsius":21},"sum":"6a883cd9"}
	// {"seq":3,"synced":2,"time":"2026-11-21T12:00:00.000000Z","type":"tea.made","data":{"cups":2},"sum":"5d6cebaa"}
}
