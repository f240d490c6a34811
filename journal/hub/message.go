package hub

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
)

// version is the format of messages that this program writes.
const version = 1

// The kinds of messages.
const (
	kindClaim     = "claim"
	kindLines     = "lines"
	kindRelease   = "release"
	kindTombstone = "tombstone"
	kindFile      = "file"
)

// Claim says which machine appends to a session.
type Claim struct {
	Nonce string `json:"nonce"` // random, new for each claim

	// For messages only; no decision depends on them.
	Home     string    `json:"home"`
	Host     string    `json:"host"`
	Time     time.Time `json:"time"` // by the clock of the host
	Released bool      `json:"released,omitempty"`
}

// Open reports whether a machine holds the claim. A nil claim is not open.
func (c *Claim) Open() bool { return c != nil && !c.Released }

// newClaim returns a claim of this machine.
func newClaim(home, host string, now time.Time) Claim {
	c := Claim{Nonce: rand.Text(), Home: home, Host: host, Time: now.UTC().Truncate(time.Second)}
	c.cut()
	return c
}

// The bounds of the texts of a Claim in bytes: it fits into MaxHead, and into a message to the user.
const (
	maxHost = 64
	maxHome = 1024
)

// cut cuts the texts of a claim. Another program may have written it.
func (c *Claim) cut() {
	c.Host = strings.ToValidUTF8(c.Host[:min(len(c.Host), maxHost)], "")
	c.Home = strings.ToValidUTF8(c.Home[:min(len(c.Home), maxHome)], "")
}

// head is the head of a message.
type head struct {
	Version int              `json:"v"`
	Kind    string           `json:"kind"`
	From    journal.Position `json:"from,omitzero"` // of lines
	To      journal.Position `json:"to,omitzero"`
	Part    int              `json:"part,omitempty"`  // from 1; 0: the lines are not divided
	Parts   int              `json:"parts,omitempty"` // their count
	File    string           `json:"file,omitempty"`  // SHA-256 of a file

	// The session after this message.
	Head  journal.Position `json:"head,omitzero"`
	Claim *Claim           `json:"claim,omitempty"`
	Row   json.RawMessage  `json:"row,omitempty"`

	// Of a sealed message: its key, wrapped by age, and the head in full.
	Key    []byte `json:"key,omitempty"`
	Sealed []byte `json:"sealed,omitempty"`

	key *key // with which the message was opened; nil: it is in plain text
}

// maxRow is the largest row in bytes.
const maxRow = 1 << 10

// encode returns the head as a line.
func (h head) encode() ([]byte, error) {
	h.Version = version
	if len(h.Row) > maxRow {
		h.Row = nil
	}
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(h); err != nil {
		return nil, err
	}
	if line.Len() > MaxHead {
		return nil, &headLengthError{line.Len()}
	}
	return bytes.TrimSuffix(line.Bytes(), []byte("\n")), nil
}

// headLengthError reports a head that is longer than MaxHead.
type headLengthError struct{ size int }

func (e *headLengthError) Error() string {
	return fmt.Sprintf("the head of a message has %d bytes, and the limit is %d", e.size, MaxHead)
}

// decodeHead decodes the head of a message, and what is visible of a sealed one. The error is ErrNewer, or
// says what is wrong.
func decodeHead(line []byte) (h head, err error) {
	if len(line) > MaxHead {
		return h, fmt.Errorf("its head has %d bytes", len(line))
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, fmt.Errorf("its head is not valid: %w", err)
	}
	if h.Claim != nil {
		h.Claim.cut()
	}
	switch {
	case h.Version > version:
		return h, ErrNewer
	case h.Version < 1:
		return h, fmt.Errorf("its head has the version %d", h.Version)
	case h.Kind == kindClaim || h.Kind == kindRelease:
		if h.Sealed == nil && (h.Claim == nil || h.Claim.Nonce == "") {
			return h, fmt.Errorf("its head is of a %s and has no claim", h.Kind)
		}
	case h.Kind == kindLines:
		if h.To.Seq <= h.From.Seq || h.To.Offset <= h.From.Offset || h.Part < 0 || h.Part > h.Parts {
			return h, fmt.Errorf("its head leads from %d to %d", h.From.Seq, h.To.Seq)
		}
	case h.Kind == kindFile:
		if h.Part < 1 || h.Part > h.Parts || h.Sealed == nil && !attachment.ValidSum(h.File) {
			return h, fmt.Errorf("its head is of part %d of %d of a file", h.Part, h.Parts)
		}
	}
	return h, nil
}

// Row is the row of the last message of a session. It is a hint: the lines are not read.
type Row struct {
	Session  Session
	Revision Revision
	Head     journal.Position // the end of the history, as far as the writer knew it
	Claim    *Claim           // nil: unknown
	Purged   bool
	Row      json.RawMessage // of the caller; nil: none
	Err      error           // the message cannot be decoded; a *SealedError: not be opened
}

// rowOf decodes a row.
func (h *Hub) rowOf(m Stored) Row {
	head, err := h.keys.decodeHead(m.Session, m.Head)
	if err != nil {
		return Row{Session: m.Session, Revision: m.Revision, Head: head.Head, Err: err}
	}
	return Row{
		Session: m.Session, Revision: m.Revision, Head: head.Head, Claim: head.Claim,
		Purged: head.Kind == kindTombstone, Row: head.Row,
	}
}
