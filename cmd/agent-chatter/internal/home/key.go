package home

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// keyFile is the name of the file with the key of a home.
const keyFile = "id"

// maxKeyFile is its largest size in bytes.
const maxKeyFile = 4 << 10

// homeKey is a key and the place for which it was made. A home that was copied, restored from a backup elsewhere or
// shared with another machine is another place: two homes must not continue the same session of an agent.
type homeKey struct {
	Key string `json:"key"`
	place
}

// place tells homes apart. Its fields are "" where the system does not have them.
type place struct {
	Directory string `json:"directory"` // the device and the inode of the home
	Machine   string `json:"machine"`
}

// Key returns the secret key of the home dir on this machine, which it makes at the first call. A key that was made
// elsewhere is replaced.
func Key(dir string) ([]byte, error) {
	here, err := placeOf(dir)
	if err != nil {
		return nil, err
	}
	if key, err := readKey(dir, here); err == nil {
		return key, nil
	}
	text, err := json.Marshal(homeKey{rand.Text(), here})
	if err != nil {
		return nil, err
	}
	err = vfs.Replace(vfs.OS, filepath.Join(dir, keyFile), 0o600, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return nil, err
	}
	// Another process may have replaced it since: its key is the one that both read next time.
	key, _ := readKey(dir, here)
	return key, nil
}

// KnownKey returns the key of the home dir on this machine, and makes none.
func KnownKey(dir string) ([]byte, error) {
	here, err := placeOf(dir)
	if err != nil {
		return nil, err
	}
	return readKey(dir, here)
}

// CheckKey returns why Key replaces the key of the home dir, so that agents start new sessions; nil if it does not, or
// there is no key yet.
func CheckKey(dir string) error {
	here, err := placeOf(dir)
	if err != nil {
		return err
	}
	if _, err = readKey(dir, here); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// errElsewhere is the error of a key that was made for another place.
var errElsewhere = errors.New("it is of another machine or directory")

// readKey returns the key of the file, which is for the place.
func readKey(dir string, here place) ([]byte, error) {
	text, err := regularfile.Read(filepath.Join(dir, keyFile), maxKeyFile)
	if err == nil {
		err = schemas.Check(schemas.HomeKey, bytes.TrimSpace(text))
	}
	var k homeKey
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	switch {
	case err != nil:
		return nil, err
	case k.place != here:
		return nil, errElsewhere
	}
	return []byte(k.Key), nil
}

func placeOf(dir string) (place, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return place{}, err
	}
	machine, err := regularfile.Read("/etc/machine-id", maxKeyFile)
	if name, hostErr := os.Hostname(); err != nil && hostErr == nil {
		machine = []byte(name)
	}
	return place{directoryID(info), strings.TrimSpace(string(machine))}, nil
}
