package team

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/agent-chatter/agent-chatter/schemas"
)

// Trusted is an entry of trust.json, the list of the team files that a user has chosen: a file and
// the Digest of what it ran then.
type Trusted struct {
	Path   string `json:"path"` // absolute
	SHA256 string `json:"sha256"`
}

// maxTrusted is the maximum number of entries. The oldest are dropped.
const maxTrusted = 1000

// trustJSON is the content of trust.json, the entries in the order in which they were added.
type trustJSON struct {
	SchemaVersion string    `json:"schemaVersion"`
	Teams         []Trusted `json:"teams"`
}

// Digest returns the hash, in hex, of everything that decides what the team runs, where, and what it
// sends where: of each agent the engine, command, arguments, permissions, directory, worktree, endpoint, name of
// the key, headers, environment and the sessions that it may read, and the files in Elsewhere. Of a
// variable that is a secret only the name counts, so that a new key is no other team.
func (t *Team) Digest() string {
	type run struct {
		Name, Engine, Command, Permissions, BaseDir, Endpoint, APIKeyEnv string
		Args, Env                                                        []string
		// Earlier versions did not hash these: without any, the digest is theirs.
		Headers map[string]string `json:",omitempty"`
		Model   string            `json:",omitempty"`
		Recall  string            `json:",omitempty"`
		// Its set-up command runs, and an agent could send what is copied for it.
		Worktree *Worktree `json:",omitempty"`
	}
	var runs []run
	for _, m := range t.Members {
		if m.Type != AI {
			continue
		}
		r := run{
			Name: m.Name, Engine: m.EngineName(), Command: m.Command, Permissions: m.Permissions, BaseDir: m.BaseDir,
			Endpoint: m.Endpoint, APIKeyEnv: m.APIKeyEnv, Args: m.Args,
			Headers: m.Headers, Recall: m.Recall, Worktree: m.Worktree,
		}
		if info := m.EngineInfo(); info.Protocol {
			// The agent's type decides which program speaks the protocol and which arguments it requires,
			// and the name of a model may begin with that of the provider to which the agent sends prompts.
			line := info.CommandLine(m.ForEngine(""))
			r.Command, r.Model = line[0], m.Model
			r.Args = append(m.Args[:0:0], line[1:]...) // nil if both are
		}
		for _, name := range slices.Sorted(maps.Keys(m.Env)) {
			value := m.Env[name]
			if IsSecret(name, value) {
				value = ""
			}
			r.Env = append(r.Env, name+"="+value)
		}
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.Name, b.Name) })
	encoded, _ := json.Marshal(struct { // strings can be encoded
		Agents    []run
		Elsewhere []string
	}{runs, t.Elsewhere})
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

// ReadTrust returns the entries of trust.json in the directory home, the oldest first. A missing
// file is an error that wraps fs.ErrNotExist; other errors are those of schemas.Check and of the file
// system.
func ReadTrust(home string) ([]Trusted, error) {
	path := filepath.Join(home, "trust.json")
	var file trustJSON
	if err := readDocument(path, schemas.Trust, &file); err != nil {
		return nil, fmt.Errorf("trust file %s: %w", path, err)
	}
	return file.Teams, nil
}

// Trust adds entries to trust.json in the directory home; an entry replaces the one with its path. If
// the file is missing, it first has the entries of initial. Errors are those of Register.
func Trust(ctx context.Context, home string, initial, added []Trusted) error {
	return updateTrust(ctx, home, initial, func(all []Trusted) []Trusted {
		for _, t := range added {
			all = append(without(all, t.Path), t)
		}
		return all[max(0, len(all)-maxTrusted):]
	})
}

// Distrust removes the entry with a path from trust.json. If the file is missing, it first has the
// entries of initial. It reports whether there was such an entry. Errors are those of Register.
func Distrust(ctx context.Context, home string, initial []Trusted, path string) (found bool, err error) {
	err = updateTrust(ctx, home, initial, func(all []Trusted) []Trusted {
		rest := without(all, path)
		found = len(rest) < len(all)
		return rest
	})
	return found && err == nil, err
}

func without(all []Trusted, path string) []Trusted {
	return slices.DeleteFunc(slices.Clone(all), func(t Trusted) bool { return t.Path == path })
}

func updateTrust(ctx context.Context, home string, initial []Trusted, change func([]Trusted) []Trusted) error {
	return UpdateFile(ctx, filepath.Join(home, "trust.json"), schemas.Trust, func() (any, error) {
		all, err := ReadTrust(home)
		if errors.Is(err, fs.ErrNotExist) {
			all, err = initial, nil
		}
		return trustJSON{"1.0", append([]Trusted{}, change(all)...)}, err
	})
}
