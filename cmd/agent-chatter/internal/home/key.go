package home

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
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
	if key := readKey(dir, here); key != nil {
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
	return readKey(dir, here), nil
}

// readKey returns the key of the file; nil if it has none for the place.
func readKey(dir string, here place) []byte {
	text, err := regularfile.Read(filepath.Join(dir, keyFile), maxKeyFile)
	if err != nil || schemas.Check(schemas.HomeKey, bytes.TrimSpace(text)) != nil {
		return nil
	}
	var k homeKey
	if json.Unmarshal(text, &k) != nil || k.place != here {
		return nil
	}
	return []byte(k.Key)
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
