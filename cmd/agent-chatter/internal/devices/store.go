package devices

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// file is the name of the file with the devices in the home.
const file = home.DevicesFile

// The bounds of the file.
const (
	maxFile    = 256 << 10 // bytes
	maxDevices = 100
	maxName    = 60 // characters of the name of a device
)

// A Device is a paired device.
type Device struct {
	ID     string    `json:"id"`
	Name   string    `json:"name"` // which the device chose; on one line, and safe for a terminal
	Role   web.Role  `json:"role"`
	SHA256 string    `json:"sha256"` // of its token
	Paired time.Time `json:"paired"`
	Seen   string    `json:"seen"` // the local date of the last day on which it used the page
}

// fileJSON is the content of the file.
type fileJSON struct {
	SchemaVersion string   `json:"schemaVersion"`
	Devices       []Device `json:"devices"`
}

// A Store has the devices of a home. Several processes may change it at once; a change counts for the next Find of
// each. Its methods may be called concurrently.
type Store struct {
	home string
	now  func() time.Time

	mu    sync.Mutex
	text  []byte            // of the file, when it was last read
	known []Device          // in it
	seen  map[string]string // by the id of a device: the last day for which that was to be noted
}

// Open returns the Store of a home. It reads nothing.
func Open(home string) *Store { return &Store{home: home, now: time.Now, seen: map[string]string{}} }

// List returns the devices in the order in which they were paired. A missing file has none. Of a file that others can
// change, or that is not a regular file with devices, it returns an error.
func (s *Store) List() ([]Device, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := s.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case s.text != nil && bytes.Equal(text, s.text):
		return slices.Clone(s.known), nil
	}
	var content fileJSON
	if err = schemas.Check(schemas.Devices, text); err == nil {
		err = json.Unmarshal(text, &content)
	}
	if err != nil {
		return nil, fmt.Errorf("devices file %s: %w", s.path(), err)
	}
	s.text, s.known = text, content.Devices
	return slices.Clone(s.known), nil
}

func (s *Store) path() string { return filepath.Join(s.home, file) }

// read returns the file. It follows no link: no program of ours makes one.
func (s *Store) read() ([]byte, error) {
	for _, path := range []string{s.home, s.path()} {
		if err := home.CheckFileOwner(s.home, path); err != nil {
			return nil, err
		}
	}
	f, err := regularfile.OpenFile(s.path(), os.O_RDONLY|regularfile.NoFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = &fs.PathError{Op: "read", Path: s.path(), Err: &regularfile.SizeError{Limit: maxFile}}
	}
	return text, err
}

// change replaces the devices by what f returns, under the lock of the file.
func (s *Store) change(ctx context.Context, f func([]Device) ([]Device, error)) error {
	return team.UpdateFile(ctx, s.path(), schemas.Devices, func() (any, error) {
		all, err := s.List()
		if err == nil {
			all, err = f(all)
		}
		return fileJSON{"1.0", append([]Device{}, all...)}, err
	})
}

// A FullError is the error of a device that is one too many.
type FullError struct{ Devices int }

func (e *FullError) Error() string { return fmt.Sprintf("there are %d paired devices", e.Devices) }

// Add adds a device, and returns it with its token. If that has paired before, replaced is its id; otherwise "". The
// error is ErrCode if the device that asked for the code may not pair this one any more: one that is revoked must not
// come back with a code that it has kept.
func (s *Store) Add(ctx context.Context, name string, g Grant, replaced string) (Device, string, error) {
	token := strings.ToLower(rand.Text())
	d := Device{
		ID: strings.ToLower(rand.Text()[:8]), Name: cleanName(name), Role: g.Role, SHA256: hashOf(token),
		Paired: s.now().UTC().Truncate(time.Second), Seen: s.today(),
	}
	err := s.change(ctx, func(all []Device) ([]Device, error) {
		mayPair := func(d Device) bool { return d.ID == g.By && d.Role.Permits(web.RoleAll) }
		if g.By != "" && !slices.ContainsFunc(all, mayPair) {
			return nil, ErrCode
		}
		all = without(all, replaced)
		if len(all) >= maxDevices {
			return nil, &FullError{len(all)}
		}
		return append(all, d), nil
	})
	return d, token, err
}

// cleanName returns the name that a device chose as it is kept.
func cleanName(name string) string {
	name = strings.Join(strings.Fields(tty.SafeLine(name)), " ")
	if runes := []rune(name); len(runes) > maxName {
		name = strings.TrimSpace(string(runes[:maxName]))
	}
	switch first, _, _ := strings.Cut(strings.ToLower(name), " "); first {
	case "", "terminal", "page": // as in "terminal 42": where a message came from if not from a device
		return "device"
	}
	return name
}

// Revoke removes a device. It reports whether there was one.
func (s *Store) Revoke(ctx context.Context, id string) (found bool, err error) {
	err = s.change(ctx, func(all []Device) ([]Device, error) {
		rest := without(all, id)
		found = len(rest) < len(all)
		return rest, nil
	})
	return found && err == nil, err
}

func without(all []Device, id string) []Device {
	return slices.DeleteFunc(all, func(d Device) bool { return d.ID == id })
}

// Find returns the device with a token. It reads the file, so that a device is unknown as soon as it is revoked. Once a
// day it notes that the device was seen.
func (s *Store) Find(token string) (Device, bool) {
	all, err := s.List()
	if err != nil {
		return Device{}, false
	}
	hash := hashOf(token)
	for _, d := range all {
		if subtle.ConstantTimeCompare([]byte(d.SHA256), []byte(hash)) == 1 {
			s.noteSeen(d)
			return d, true
		}
	}
	return Device{}, false
}

// noteSeen notes the day, unless that was tried before: a home may be read-only.
func (s *Store) noteSeen(d Device) {
	today := s.today()
	s.mu.Lock()
	noted := d.Seen == today || s.seen[d.ID] == today
	s.seen[d.ID] = today
	s.mu.Unlock()
	if noted {
		return
	}
	_ = s.change(context.Background(), func(all []Device) ([]Device, error) { // it is information only
		for i := range all {
			if all[i].ID == d.ID {
				all[i].Seen = today
			}
		}
		return all, nil
	})
}

func (s *Store) today() string { return s.now().Local().Format(time.DateOnly) }

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
