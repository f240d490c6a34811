package home

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

const (
	suffix  = ".txt"
	maxFile = 64 << 10 // of an identity file, in bytes
)

// Identity is a file of the directory.
type Identity struct {
	Name       string // of the file, without its suffix
	Recipients []string
	keys       []age.Identity
}

// IdentitySharedError reports an identity file that other users can read.
type IdentitySharedError struct{ Path string }

func (e *IdentitySharedError) Error() string { return e.Path + " can be read by other users" }

// IdentitiesDir returns the directory with the identities of a home.
func IdentitiesDir(home string) string { return filepath.Join(home, "identities") }

// ListIdentities returns the identities of a directory, ordered by name. A directory that does not exist has none.
func ListIdentities(dir string) (all []Identity, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), suffix)
		if !ok {
			continue
		}
		identity, err := read(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		identity.Name = name
		all = append(all, identity)
	}
	return all, nil
}

// LoadIdentities returns the keys of the identities of a directory.
func LoadIdentities(dir string) (keys []age.Identity, err error) {
	all, err := ListIdentities(dir)
	for _, identity := range all {
		keys = append(keys, identity.keys...)
	}
	return keys, err
}

func read(path string) (i Identity, err error) {
	data, err := regularfile.Read(path, maxFile)
	if err != nil {
		return i, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return i, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return i, &IdentitySharedError{path}
	}
	if i.keys, err = age.ParseIdentities(bytes.NewReader(data)); err != nil {
		return i, fmt.Errorf("%s is not an age identity", path) // the cause may have a part of the key
	}
	for _, key := range i.keys {
		switch key := key.(type) {
		case *age.X25519Identity:
			i.Recipients = append(i.Recipients, key.Recipient().String())
		case *age.HybridIdentity:
			i.Recipients = append(i.Recipients, key.Recipient().String())
		}
	}
	return i, nil
}

// ParseRecipients parses recipients such as age1….
func ParseRecipients(texts []string) (all []age.Recipient, err error) {
	for _, text := range texts {
		parsed, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil || len(parsed) != 1 {
			return nil, fmt.Errorf("%q is not a recipient such as age1…", text)
		}
		all = append(all, parsed[0])
	}
	return all, nil
}

const (
	maxName   = 64 // of an identity, in bytes
	nameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
)

// validName reports whether an identity can have a name: not one that looks like a flag. It is no regular expression,
// which every start of the program would compile.
func validName(name string) bool {
	return name != "" && len(name) <= maxName && strings.Trim(name, nameBytes) == "" && name[0] != '_' && name[0] != '-'
}

// IdentityNameError reports the name of an identity that cannot be the name of a file.
type IdentityNameError struct{ Name string }

func (e *IdentityNameError) Error() string {
	return fmt.Sprintf("%q is not a name of letters, digits, _ and -", e.Name)
}

// CreateIdentity writes a new identity and returns its recipient. An identity with that name is fs.ErrExist.
func CreateIdentity(dir, name string, now time.Time) (recipient string, err error) {
	if !validName(name) {
		return "", &IdentityNameError{name}
	}
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+suffix)
	tmp, err := os.CreateTemp(dir, "."+name+"-*.tmp") // with mode 0600
	if err != nil {
		return "", err
	}
	defer os.Remove(tmp.Name())
	_, err = fmt.Fprintf(tmp, "# created: %s\n# public key: %s\n%s\n",
		now.UTC().Format(time.RFC3339), key.Recipient(), key)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		// Crash here leaves no identity, and a temporary file.
		err = os.Link(tmp.Name(), path) // fails if the name is taken
	}
	return key.Recipient().String(), err
}
