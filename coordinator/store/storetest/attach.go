package storetest

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/projection"
)

func keepsFiles(t *testing.T, s store.Store) {
	session := begin(t, s, team, noon, "look")
	content := []byte{0, 1, 2, 0xff}
	sum, err := session.Attach(content)
	if err != nil || sum != attachment.Sum(content) {
		t.Fatalf("%s, %v", sum, err)
	}
	content[0] = 9 // which the log does not keep
	if _, err := session.Attach(make([]byte, attachment.MaxBytes+1)); !errors.As(err, new(*attachment.TooLargeError)) {
		t.Errorf("too much: %v", err)
	}
	session.close(t)

	log, _, err := s.Open(t.Context(), team, session.SessionID())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close(session.state)
	read, err := log.Attached(projection.File{Bytes: 4, SHA256: sum})
	if err != nil || !bytes.Equal(read, []byte{0, 1, 2, 0xff}) {
		t.Errorf("%v, %v", read, err)
	}
	missing := projection.File{Bytes: 1, SHA256: attachment.Sum([]byte("a"))}
	if _, err := log.Attached(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
