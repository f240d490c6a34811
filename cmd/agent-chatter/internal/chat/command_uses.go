package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// usesFile is the file in the home that counts how often commands were used. No journal has the commands that change
// nothing.
const usesFile = "command-uses.json"

// The bounds of the file.
const (
	maxUsesFile = 64 << 10 // bytes
	maxUses     = 1000     // of a command: then all counts are halved, so that the newer ones count more
)

// commandUses counts the commands that a person uses in a chat. The zero value has none.
type commandUses struct {
	mu   sync.Mutex
	uses map[string]int // by name, since the last save
}

// usesJSON is the content of the file.
type usesJSON struct {
	SchemaVersion string         `json:"schemaVersion"`
	Uses          map[string]int `json:"uses"`
}

// add counts a command, which is known.
func (u *commandUses) add(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.uses == nil {
		u.uses = map[string]int{}
	}
	u.uses[name]++
}

// save adds the counts to those of the file in a home, unless the home does not exist.
func (u *commandUses) save(home string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, err := os.Stat(home); len(u.uses) == 0 || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	path := filepath.Join(home, usesFile)
	err := team.UpdateFile(context.Background(), path, schemas.CommandUses, func() (any, error) {
		all, err := readUses(home)
		if err != nil {
			return nil, err
		}
		most := 0
		for name, n := range u.uses {
			all[name] += n
			most = max(most, all[name])
		}
		for name, n := range all {
			if most > maxUses {
				n /= 2
			}
			if all[name] = min(n, maxUses); n == 0 {
				delete(all, name)
			}
		}
		return usesJSON{"1.0", all}, nil
	})
	if err == nil {
		u.uses = nil
	}
	return err
}

// readUses returns the counts of the file in a home. A file that is missing or invalid has none.
func readUses(home string) (map[string]int, error) {
	content, err := regularfile.Read(filepath.Join(home, usesFile), maxUsesFile)
	if err == nil {
		err = schemas.Check(schemas.CommandUses, content)
	}
	file := usesJSON{Uses: map[string]int{}}
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	if _, invalid := errors.AsType[*schemas.InvalidError](err); invalid || errors.Is(err, fs.ErrNotExist) {
		return map[string]int{}, nil
	}
	return file.Uses, err
}

// byUse returns commands in the order of their uses, and otherwise in their own.
func byUse(commands []editor.Choice, uses map[string]int) []editor.Choice {
	sorted := slices.Clone(commands)
	slices.SortStableFunc(sorted, func(a, b editor.Choice) int { return cmp.Compare(uses[b.Text], uses[a.Text]) })
	return sorted
}
