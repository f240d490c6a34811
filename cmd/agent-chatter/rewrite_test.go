package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/rogpeppe/go-internal/testscript"
)

func rewrite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: rewrite FILE OLD NEW")
	}
	ts.Check(rewriteJournal(ts.MkAbs(args[0]), args[1], args[2]))
}

// rewriteJournal replaces text in the types and payloads of a journal, as if
// another version of the program had written them: the sums are correct.
func rewriteJournal(path, old, replacement string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var at journal.Position
	var written []byte
	found := false
	for line := range bytes.Lines(content) {
		var event struct {
			Time time.Time       `json:"time"`
			Type string          `json:"type"`
			Data json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return err
		}
		changed := journal.Record{
			Type: strings.ReplaceAll(event.Type, old, replacement), Time: event.Time,
			Data: bytes.ReplaceAll(event.Data, []byte(old), []byte(replacement)),
		}
		found = found || changed.Type != event.Type || !bytes.Equal(changed.Data, event.Data)
		e, next, err := at.Next(changed)
		if err != nil {
			return err
		}
		at, written = next, append(append(written, e.Line()...), '\n')
	}
	if !found {
		return fmt.Errorf("%s is not in %s", old, path)
	}
	return os.WriteFile(path, written, 0o600)
}
