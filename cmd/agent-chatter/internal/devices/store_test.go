package devices

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// add adds a device.
func add(t *testing.T, s *Store, name string, role web.Role) (Device, string) {
	t.Helper()
	d, token, err := s.Add(t.Context(), name, Grant{Role: role}, "")
	if err != nil {
		t.Fatal(err)
	}
	return d, token
}

func TestDevicesAreFoundUntilTheyAreRevoked(t *testing.T) {
	home := t.TempDir()
	server, command := Open(home), Open(home) // in two processes
	if all, err := server.List(); len(all) > 0 || err != nil {
		t.Errorf("a new home has %v, %v", all, err)
	}
	phone, token := add(t, server, "Ann's phone", web.RoleAnswer)
	tablet, other := add(t, command, "Tablet", web.RoleRead)
	for want, token := range map[string]string{phone.ID: token, tablet.ID: other} {
		if d, ok := server.Find(token); !ok || d.ID != want {
			t.Errorf("found %+v, want %s", d, want)
		}
	}
	for _, wrong := range []string{"", "x", token[1:], token + "x", strings.ToUpper(token), phone.SHA256, phone.ID} {
		if d, ok := server.Find(wrong); ok {
			t.Errorf("the token %q is that of %+v", wrong, d)
		}
	}
	if all, err := command.List(); err != nil || len(all) != 2 || all[0] != phone || all[1] != tablet {
		t.Errorf("%+v, %v", all, err)
	}
	if found, err := command.Revoke(t.Context(), phone.ID); !found || err != nil {
		t.Errorf("revoke: %t, %v", found, err)
	}
	if _, ok := server.Find(token); ok {
		t.Error("the revoked device is found")
	}
	if _, ok := server.Find(other); !ok {
		t.Error("the other one is not")
	}
	if found, err := command.Revoke(t.Context(), phone.ID); found || err != nil {
		t.Errorf("revoke it again: %t, %v", found, err)
	}
}

func TestFileHasNoTokenAndIsPrivate(t *testing.T) {
	home := t.TempDir()
	d, token := add(t, Open(home), "phone", web.RoleAll)
	path := filepath.Join(home, "devices.json")
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), token) || !strings.Contains(string(text), d.SHA256) {
		t.Errorf("%s, %v", text, err)
	}
	if err := schemas.Check(schemas.Devices, text); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if len(token) < 26 || len(d.ID) != 8 {
		t.Errorf("token %q, id %q", token, d.ID)
	}
}

// A device that pairs again replaces what it was.
func TestPairingAgainReplacesADevice(t *testing.T) {
	s := Open(t.TempDir())
	first, token := add(t, s, "phone", web.RoleAll)
	second, _, err := s.Add(t.Context(), "phone", Grant{Role: web.RoleRead}, first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := s.List(); err != nil || len(all) != 1 || all[0] != second {
		t.Errorf("%v, %v", all, err)
	}
	if _, ok := s.Find(token); ok {
		t.Error("its first token is known")
	}
}

func TestNumberOfDevicesIsBounded(t *testing.T) {
	s := Open(t.TempDir())
	all := make([]Device, maxDevices)
	for i := range all {
		all[i] = Device{ID: "abcdefgh", Name: strings.Repeat("<", maxName), Role: "read", SHA256: hashOf(""),
			Paired: time.Now().UTC(), Seen: "2026-11-29"}
	}
	if err := s.change(t.Context(), func([]Device) ([]Device, error) { return all, nil }); err != nil {
		t.Fatal(err)
	}
	var full *FullError
	if _, _, err := s.Add(t.Context(), "x", Grant{Role: web.RoleRead}, ""); !errors.As(err, &full) || full.Devices != maxDevices {
		t.Errorf("one more: %v", err)
	}
	if after, err := s.List(); err != nil || len(after) != maxDevices { // it can be read
		t.Errorf("%d, %v", len(after), err)
	}
}

func TestNamesAreSafe(t *testing.T) {
	for name, want := range map[string]string{
		"": "device", "Terminal ": "device", "page": "device", "terminal 42": "device", "PAGE 1": "device", "My page": "My page", " \n\t ": "device", "  Ann's\n phone ": "Ann's phone", strings.Repeat("é", 99): strings.Repeat("é", 60),
	} {
		if got := cleanName(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
	for _, name := range []string{apptest.Hostile, "a\xff\x00b", "\u202egnp.exe", strings.Repeat("\u0301", 1000)} {
		got := cleanName(name)
		if strings.ContainsAny(got, "\x1b\n\x00\u202e") || !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxName {
			t.Errorf("%q: %q", name, got)
		}
	}
}

// Once a day, the day is noted; and not of a device that was revoked meanwhile.
func TestDayIsNoted(t *testing.T) {
	home := t.TempDir()
	s := Open(home)
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.Local)
	s.now = func() time.Time { return now }
	d, token := add(t, s, "phone", web.RoleAll)
	written := func() string {
		all, err := Open(home).List()
		if err != nil || len(all) != 1 {
			t.Fatalf("%v, %v", all, err)
		}
		return all[0].Seen
	}
	text, _ := os.Stat(s.path())
	s.Find(token)
	if same, _ := os.Stat(s.path()); !os.SameFile(text, same) || d.Seen != "2026-11-29" {
		t.Error("it was written again on the same day")
	}
	now = now.AddDate(0, 0, 1)
	s.Find(token)
	s.Find(token)
	if got := written(); got != "2026-11-30" {
		t.Errorf("seen %s", got)
	}
	now = now.AddDate(0, 0, 1)
	if _, err := Open(home).Revoke(t.Context(), d.ID); err != nil {
		t.Fatal(err)
	}
	s.noteSeen(d)
	if all, err := s.List(); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
}

// TestTwoServersWrite lets two servers pair, note and revoke at once. Nothing is lost.
func TestTwoServersWrite(t *testing.T) {
	home := t.TempDir()
	const each = 20
	var all, revoked sync.Map
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			s := Open(home)
			for i := range each {
				d, token, err := s.Add(t.Context(), "phone", Grant{Role: web.RoleRead}, "")
				if err != nil {
					t.Error(err)
					return
				}
				if _, ok := s.Find(token); !ok {
					t.Errorf("%s is not found", d.ID)
				}
				if all.Store(d.ID, true); i%4 == 0 {
					if found, err := s.Revoke(t.Context(), d.ID); !found || err != nil {
						t.Errorf("revoke: %t, %v", found, err)
					}
					revoked.Store(d.ID, true)
				}
			}
		})
	}
	running.Wait()
	left, err := Open(home).List()
	if err != nil {
		t.Fatal(err)
	}
	all.Range(func(id, _ any) bool {
		_, gone := revoked.Load(id)
		if listed := slices.ContainsFunc(left, func(d Device) bool { return d.ID == id }); listed == gone {
			t.Errorf("%s: listed %t, revoked %t", id, listed, gone)
		}
		return true
	})
}
