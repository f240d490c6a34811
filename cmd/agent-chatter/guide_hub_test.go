package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream/natstest"
)

// hubConfigs writes the configurations of servers in guide/hub.md, and returns their directory.
func hubConfigs(t *testing.T) string {
	t.Helper()
	s := newShell(t)
	for _, b := range blocksOf(readText(t, filepath.Join(manualDir, "hub.md"))) {
		if file, ok := strings.CutPrefix(b.note, "file: "); ok && strings.HasSuffix(file, ".conf") {
			s.write(file, strings.NewReplacer("/var/lib/nats", t.TempDir(), "/etc/nats/", "").Replace(b.text))
		}
	}
	return s.work
}

func TestManualServersKeepWhatTheyAcknowledge(t *testing.T) {
	dir := hubConfigs(t)
	for _, file := range []string{"nats.conf", "n1/nats.conf"} {
		text := readText(t, filepath.Join(dir, file))
		// The certificates are those of the reader.
		var lines []string
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(strings.TrimSpace(line), "tls {") {
				lines = append(lines, line)
			}
		}
		o := &server.Options{}
		s := newShell(t)
		s.write(file, strings.Join(lines, ""))
		if strings.Contains(text, "include users.conf") {
			s.write("n1/users.conf", readText(t, filepath.Join(dir, "n1/users.conf")))
		}
		if err := o.ProcessConfigFile(filepath.Join(s.work, file)); err != nil {
			t.Fatal(err)
		}
		if !o.SyncAlways || !o.JetStream && o.StoreDir == "" {
			t.Errorf("%s: syncs always: %v, directory %s", file, o.SyncAlways, o.StoreDir)
		}
	}
}

// TestManualPermissions runs commands of a member and of the administrator on a server with the users of guide/hub.md.
func TestManualPermissions(t *testing.T) {
	skipIfShort(t)
	configured := &server.Options{}
	if err := configured.ProcessConfigFile(filepath.Join(hubConfigs(t), "n1/users.conf")); err != nil {
		t.Fatal(err)
	}
	for _, user := range configured.Users {
		user.Password = "secret"
	}
	url, stop, err := natstest.Start(t.TempDir(), func(o *server.Options) { o.Users = configured.Users })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	s := newShell(t)
	s.write("~/.agent-chatter/config.json", `{"hub": {"teams": ["*"]}}`)
	s.write("~/ben/config.json", `{"hub": {"teams": ["*"]}}`)
	s.write("notes.txt", "")
	as := func(user, command string, code int) {
		t.Helper()
		address := strings.Replace(url, "//", "//"+user+":secret@", 1)
		output := s.exec("export AGENT_CHATTER_HUB=" + address + "; " + command)
		if s.code != code {
			t.Errorf("%s: %s exits with %d, want %d:\n%s", user, command, s.code, code, output)
		}
		if s.code = 0; code == 1 && !strings.Contains(output, "permission is missing: publish to") {
			t.Errorf("%s: %s prints\n%s", user, command, output)
		}
	}
	const session = "01KAH9TQ4GJ5X8C2VRB0ME7QN3"
	as("ann", "agent-chatter hub init", 1)
	as("admin", "agent-chatter hub init", 0)
	as("ann", "agent-chatter hub push --all", 0)
	as("ben", "agent-chatter --home ~/ben hub pull --all", 0)
	as("ben", "agent-chatter --home ~/ben chat -t demo -m hello", 0)
	as("ben", "agent-chatter --home ~/ben sessions rename "+session+" Renamed", 0)
	as("ann", "agent-chatter sessions export "+session+" --format md --output-file - | grep Renamed", 0)
	as("ann", "agent-chatter hub status | grep -c equal", 0)
	as("ann", "agent-chatter hub verify", 0)
	as("ann", "agent-chatter hub purge "+session+" --yes", 1)
	as("ann", "agent-chatter hub status "+session+" | grep equal", 0)
	as("admin", "agent-chatter hub purge "+session+" --yes", 0)
	as("ann", "agent-chatter hub status "+session+" | grep purged", 0)
}
