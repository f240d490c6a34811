package workspace

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	maxMerged    = 8 << 20 // the size of the largest text that is merged, in bytes
	maxConflicts = 127     // the exit status of git merge-file for as many conflicts, or more
)

// mergeTexts are the three sides of a merge.
type mergeTexts struct{ ours, base, theirs []byte }

// mergeFile merges three texts with git merge-file. conflicts reports whether the result has marks of conflicts. The
// error says why they cannot be merged, without a path.
func mergeFile(ctx context.Context, texts mergeTexts, theirName string) (merged []byte, conflicts bool, err error) {
	for _, text := range [][]byte{texts.ours, texts.base, texts.theirs} {
		if bytes.IndexByte(text, 0) >= 0 {
			return nil, false, errors.New("it is no text")
		}
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, false, errors.New("git is not installed")
	}
	dir, err := os.MkdirTemp("", "agent-chatter-merge-")
	if err != nil {
		return nil, false, err
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string][]byte{"ours": texts.ours, "base": texts.base, "theirs": texts.theirs} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return nil, false, err
		}
	}
	cmd := exec.CommandContext(ctx, git, "merge-file", "-p", "-L", "yours", "-L", "before", "-L", theirName, "ours",
		"base", "theirs")
	cmd.Dir = dir
	cmd.Env = gitEnvironment(os.Environ(), filepath.Dir(dir))
	cmd.WaitDelay = gitDelay
	var out bytes.Buffer
	cmd.Stdout = &out
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() <= maxConflicts {
		return out.Bytes(), true, nil
	}
	if err != nil {
		return nil, false, errors.New("git merge-file failed")
	}
	return out.Bytes(), false, nil
}
