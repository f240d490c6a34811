package agenttest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// Running returns the command lines of the living processes of turns, by process id. A turn
// matches if its id begins with one of turnIDs.
func Running(turnIDs ...string) map[int]string {
	found := map[int]string{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if carriesOneOf(env, turnIDs) {
			command, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
			found[pid] = strings.TrimSpace(strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

func carriesOneOf(env []byte, turnIDs []string) bool {
	for _, id := range turnIDs {
		if bytes.Contains(env, []byte(process.TurnVariable+"="+id)) {
			return true
		}
	}
	return false
}
