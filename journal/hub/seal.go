package hub

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"filippo.io/age"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/agent-chatter/agent-chatter/journal"
)

const (
	// sealOverhead is how much longer a sealed body is, in bytes.
	sealOverhead = chacha20poly1305.NonceSizeX + chacha20poly1305.Overhead

	// maxWrapped bounds a wrapped key in bytes, so that it fits into MaxHead beside a row.
	maxWrapped = 2560

	// maxKeys bounds the unwrapped keys in memory: about one for each session of a list.
	maxKeys = 1 << 14
)

// SealedError reports messages of a session that no identity of this machine opens.
type SealedError struct {
	Session  Session
	After    uint64 // seq of the last event of the history that was read before them
	TakeOver bool   // taking the session over continues it after that event
	Err      error  // of an identity that could not be used; nil: none belongs to a recipient
}

func (e *SealedError) Error() string {
	after := ""
	if e.After > 0 {
		after = fmt.Sprintf(" after event %d", e.After)
	}
	reason := "no identity of this machine opens it"
	if e.Err != nil {
		reason = "opening it failed: " + e.Err.Error()
	}
	return fmt.Sprintf("session %s is sealed on the hub%s, and %s", e.Session.ID, after, reason)
}

// Unwrap returns the error of the identity.
func (e *SealedError) Unwrap() error { return e.Err }

// PlainError reports that a session is sealed on the hub, and that this machine has no recipients: it
// would continue the session in plain text.
type PlainError struct {
	Session Session
	Copy    bool // the hub does not have it: it has events of a sealed one, or was sealed on a hub that is lost
}

func (e *PlainError) Error() string {
	if e.Copy {
		return fmt.Sprintf("session %s has events that were sealed on the hub, and this machine has no recipients to "+
			"seal them for", e.Session.ID)
	}
	return fmt.Sprintf("session %s is sealed on the hub, and this machine has no recipients to seal its events for",
		e.Session.ID)
}

// RecipientsError reports that the key of a claim, wrapped for all recipients, is too long.
type RecipientsError struct {
	Recipients  int // their number
	Size, Limit int // in bytes
}

func (e *RecipientsError) Error() string {
	return fmt.Sprintf("a key for the %d recipients of the hub has %d bytes, and the limit is %d",
		e.Recipients, e.Size, e.Limit)
}

// ErrNotRecipient is returned if this machine could not read what it seals.
var ErrNotRecipient = errors.New("no identity of this machine belongs to one of the recipients of the hub")

var (
	errNoIdentity = errors.New("no identity opens it")
	errAltered    = errors.New("its seal is broken: it was altered, or is of another session or position")
)

// key seals the messages of one claim.
type key struct {
	wrapped []byte // by age
	aead    cipher.AEAD
}

// seal returns a random nonce and the sealed text.
func (k *key) seal(text, additional []byte) []byte {
	nonce := make([]byte, chacha20poly1305.NonceSizeX, len(text)+sealOverhead)
	rand.Read(nonce)
	return k.aead.Seal(nonce, nonce, text, additional)
}

// open appends to dst what seal has sealed.
func (k *key) open(dst, sealed, additional []byte) ([]byte, error) {
	if len(sealed) < sealOverhead {
		return nil, errAltered
	}
	nonce, sealed := sealed[:chacha20poly1305.NonceSizeX], sealed[chacha20poly1305.NonceSizeX:]
	text, err := k.aead.Open(dst, nonce, sealed, additional)
	if err != nil {
		return nil, errAltered
	}
	return text, nil
}

// additional returns the additional data of a head or a body: a sealed text is valid in one place only.
func additional(of string, s Session, line []byte) []byte {
	return fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s", of, s.Team, s.ID, line)
}

// message returns a sealed message. The row is omitted if the head is too long with it.
func (k *key) message(s Session, h head, body []byte) (Message, error) {
	text, err := h.encode()
	if err != nil {
		return Message{}, err
	}
	visible, err := h.visible(k.wrapped).encode()
	if err != nil {
		return Message{}, err
	}
	visible = bytes.TrimSuffix(visible, []byte("}"))
	line := appendSealed(visible, k.seal(text, additional("head", s, visible)))
	if len(line) > MaxHead && h.Row != nil {
		h.Row = nil
		return k.message(s, h, body)
	}
	if len(line) > MaxHead {
		return Message{}, &headLengthError{len(line)}
	}
	if len(body) > 0 {
		body = k.seal(body, additional("body", s, line))
	}
	return Message{line, body}, nil
}

// visible returns what everyone may see of a head.
func (h head) visible(wrapped []byte) head {
	h.From.Sum, h.To.Sum, h.Head.Sum = 0, 0, 0
	return head{
		Kind: h.Kind, From: h.From, To: h.To, Part: h.Part, Parts: h.Parts, Head: h.Head, Key: wrapped,
	}
}

// sealedField begins the last field of a sealed head. The bytes before it are the additional data of the field.
const sealedField = `,"sealed":"`

func appendSealed(visible, sealed []byte) []byte {
	line := append(slices.Clip(visible), sealedField...)
	line = base64.StdEncoding.AppendEncode(line, sealed)
	return append(line, `"}`...)
}

// keyring makes and unwraps keys. Its methods may be called concurrently.
type keyring struct {
	recipients []age.Recipient
	identities []age.Identity

	mu        sync.Mutex
	unwrapped map[string]*key // by the wrapped key
}

// newKey returns a random key for the recipients.
func (r *keyring) newKey() (*key, error) {
	secret := make([]byte, chacha20poly1305.KeySize)
	rand.Read(secret)
	var wrapped bytes.Buffer
	w, err := age.Encrypt(&wrapped, r.recipients...)
	if err == nil {
		_, err = w.Write(secret)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("wrapping a key for the recipients of the hub: %w", err)
	}
	if wrapped.Len() > maxWrapped {
		return nil, &RecipientsError{len(r.recipients), wrapped.Len(), maxWrapped}
	}
	k, err := r.unwrap(wrapped.Bytes())
	if errors.Is(err, errNoIdentity) {
		return nil, ErrNotRecipient
	}
	return k, err
}

// unwrap returns the key that was wrapped. The error is errNoIdentity, errAltered, or that of an identity.
func (r *keyring) unwrap(wrapped []byte) (*key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.unwrapped[string(wrapped)]; k != nil {
		return k, nil
	}
	k, err := unwrap(wrapped, r.identities)
	if err != nil {
		return nil, err
	}
	for other := range r.unwrapped {
		if len(r.unwrapped) < maxKeys {
			break
		}
		delete(r.unwrapped, other)
	}
	if r.unwrapped == nil {
		r.unwrapped = map[string]*key{}
	}
	r.unwrapped[string(wrapped)] = k
	return k, nil
}

func unwrap(wrapped []byte, identities []age.Identity) (*key, error) {
	if len(identities) == 0 {
		return nil, errNoIdentity
	}
	if _, err := age.ExtractHeader(bytes.NewReader(wrapped)); err != nil {
		return nil, errAltered
	}
	secret, err := age.Decrypt(bytes.NewReader(wrapped), identities...)
	if none := (*age.NoIdentityMatchError)(nil); errors.As(err, &none) {
		return nil, errNoIdentity
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(secret, chacha20poly1305.KeySize+1))
	if err != nil {
		return nil, errAltered
	}
	aead, err := chacha20poly1305.NewX(text)
	if err != nil {
		return nil, errAltered
	}
	return &key{bytes.Clone(wrapped), aead}, nil
}

// decodeHead decodes and opens the head of a message. If it cannot be opened, it returns what is visible,
// and a *SealedError or errAltered.
func (r *keyring) decodeHead(s Session, line []byte) (head, error) {
	visible, err := decodeHead(line)
	if err != nil || visible.Sealed == nil {
		return visible, err
	}
	k, err := r.unwrap(visible.Key)
	switch {
	case errors.Is(err, errNoIdentity):
		return visible, &SealedError{Session: s}
	case errors.Is(err, errAltered):
		return visible, err
	case err != nil:
		return visible, &SealedError{Session: s, Err: err}
	}
	before := line[:max(0, bytes.LastIndex(line, []byte(sealedField)))]
	if !bytes.Equal(appendSealed(before, visible.Sealed), line) {
		return visible, errAltered
	}
	text, err := k.open(nil, visible.Sealed, additional("head", s, before))
	if err != nil {
		return visible, err
	}
	h, err := decodeHead(text)
	if err != nil {
		return visible, errAltered
	}
	h.key = k
	return h, nil
}

// equalExceptSum reports whether two positions are equal, except perhaps for their sums.
func equalExceptSum(a, b journal.Position) bool { return a.Seq == b.Seq && a.Offset == b.Offset }
