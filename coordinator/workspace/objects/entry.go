package objects

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Hash is the SHA-256 of an object's bytes. The zero Hash is none.
type Hash [sha256.Size]byte

// HashOf returns the hash of an object.
func HashOf(object []byte) Hash { return sha256.Sum256(object) }

// ParseHash parses what String returns.
func ParseHash(text string) (Hash, error) {
	var h Hash
	if len(text) != 2*len(h) || strings.ToLower(text) != text {
		return Hash{}, fmt.Errorf("%.80q is no SHA-256 in lower-case hex", text)
	}
	_, err := hex.Decode(h[:], []byte(text))
	return h, err
}

// String returns the hash in hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// The modes of entries are those of stat(2): a type, and for files the permissions with setuid, setgid and sticky.
const (
	ModeType = 0o170000
	ModeDir  = 0o040000
	ModeFile = 0o100000
	ModeLink = 0o120000
	modePerm = 0o7777
	// ModeSkipped is the mode of a path whose content is not stored. Its object is the text that says why.
	ModeSkipped = 0o150000
	// ModeInGit is the mode of a file or link whose content is not stored since it is as in Git's index. Its hash is
	// that of GitEntry.
	ModeInGit = 0o160000
)

// Partial marks a tree in which files that are as in Git's index have the mode ModeInGit, beside the files of its top
// directory. No captured file has its path. Compare and Files leave it out.
var Partial = File{Path: ".git", Entry: Entry{Mode: ModeInGit}}

// GitEntry returns the entry of a file with the mode ModeInGit. mode is Git's in octal, and name Git's of the content.
func GitEntry(mode, name string) Entry {
	return Entry{Mode: ModeInGit, Hash: HashOf([]byte(mode + " " + name))}
}

// Entry is one name in a tree. The zero Entry is an absent name.
type Entry struct {
	Mode uint32 // ModeFile with permissions, ModeLink, ModeDir, ModeSkipped or ModeInGit
	Hash Hash   // of the content, of the link's text, of the directory, or of why the path is skipped
	Size int64  // in bytes; 0 for a directory and for what is not stored
}

// Stored reports whether the content of the name is stored: it is a file or a link.
func (e Entry) Stored() bool { return e.Type() == ModeFile || e.Type() == ModeLink }

// IsZero reports whether the name is absent.
func (e Entry) IsZero() bool { return e == Entry{} }

// Type returns the type bits of the mode.
func (e Entry) Type() uint32 { return e.Mode & ModeType }

// named is an entry of a directory.
type named struct {
	name string
	Entry
}

// encodeDir returns the object of a directory: for each name, in the order of their bytes, the mode as 4 bytes, the
// hash, the size as a varint, the name and a zero byte.
func encodeDir(entries []named) []byte {
	slices.SortFunc(entries, func(a, b named) int { return strings.Compare(a.name, b.name) })
	var object []byte
	for _, e := range entries {
		object = binary.BigEndian.AppendUint32(object, e.Mode)
		object = append(object, e.Hash[:]...)
		object = binary.AppendUvarint(object, uint64(e.Size))
		object = append(object, e.name...)
		object = append(object, 0)
	}
	return object
}

var errNoDir = errors.New("the object is no directory")

// decodeDir is the inverse of encodeDir.
func decodeDir(object []byte) ([]named, error) {
	var entries []named
	for len(object) > 0 {
		var e named
		if len(object) < 4+len(e.Hash) {
			return nil, errNoDir
		}
		e.Mode = binary.BigEndian.Uint32(object)
		object = object[4:]
		object = object[copy(e.Hash[:], object):]
		size, n := binary.Uvarint(object)
		if n <= 0 || size > 1<<62 {
			return nil, errNoDir
		}
		e.Size = int64(size)
		name, rest, ok := bytes.Cut(object[n:], []byte{0})
		if !ok || !validName(string(name)) || !validMode(e.Mode) {
			return nil, errNoDir
		}
		if e.name = string(name); len(entries) > 0 && entries[len(entries)-1].name >= e.name {
			return nil, errNoDir
		}
		entries, object = append(entries, e), rest
	}
	return entries, nil
}

func validName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

func validMode(mode uint32) bool {
	switch mode {
	case ModeDir, ModeLink, ModeSkipped, ModeInGit:
		return true
	}
	return mode&^modePerm == ModeFile
}
