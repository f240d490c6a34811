package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

const (
	maxRecord = 64 << 10    // bytes of a path in the output of Git
	maxStderr = 4 << 10     // bytes that are kept of what Git reports
	gitDelay  = time.Second // how long a process that Git started may keep its output open
	gitFatal  = 128         // the exit status of Git for most failures
)

// A gitError is the error of a Git that ended with the exit status gitFatal.
type gitError struct{ stderr string }

func (e *gitError) Error() string { return "git failed: " + e.reason() }

// reason returns the first line of what Git reported.
func (e *gitError) reason() string {
	line, _, _ := strings.Cut(e.stderr, "\n")
	return strings.TrimPrefix(line, "fatal: ")
}

// unversioned adds the files of a directory without the help of its repository: for an empty one, every file is
// untracked. It returns the nested repositories.
func (l *lister) unversioned(ctx context.Context, dir string) (nested []string, err error) {
	empty, err := emptyGitDir(l.scratch)
	if err != nil {
		return nil, err
	}
	return l.lsFiles(ctx, dir, []string{"--git-dir=" + empty, "--work-tree=."})
}

// emptyGitDir returns the smallest directory that Git takes for a repository. git init would copy a template with
// hooks.
func emptyGitDir(scratch string) (string, error) {
	dir := filepath.Join(scratch, "empty.git")
	head := filepath.Join(dir, "HEAD")
	if _, err := os.Lstat(head); err == nil {
		return dir, nil
	}
	for _, name := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return "", err
		}
	}
	// Crash here leaves a directory without HEAD, which the next call completes.
	return dir, vfs.Replace(vfs.OS, head, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, "ref: refs/heads/none\n")
		return err
	})
}

// refuses reports whether Git does not work with the repository of a directory at all: another user owns it, it has an
// unknown extension, it is bare or broken.
func (l *lister) refuses(ctx context.Context, dir string) (bool, error) {
	inside := false
	_, err := l.run(ctx, dir, []string{"rev-parse", "--is-inside-work-tree"}, func(output string) error {
		inside = output == "true\n"
		return nil
	})
	var failed *gitError
	if errors.As(err, &failed) {
		return true, nil
	}
	return !inside, err
}

// lsFiles adds the untracked files of a directory, and with the option --cached the tracked ones. It returns the nested
// repositories.
func (l *lister) lsFiles(ctx context.Context, dir string, gitOptions []string, options ...string) ([]string, error) {
	args := slices.Concat(gitOptions, []string{"ls-files", "-z", "-t", "--others", "--exclude-standard"}, options)
	if dir == "." && l.sub != "" {
		args = append(args, "--", l.sub)
	}
	var nested []string
	var last indexRecord
	warnings, err := l.run(ctx, dir, args, func(record string) error {
		record, err := last.end(record, l)
		if err != nil || record == "" {
			return err
		}
		name, isRepository, err := l.parseRecord(dir, record)
		if l.index {
			last.begin(record, name)
		}
		switch {
		case err != nil:
			return err
		case !isRepository:
			return l.add(name)
		case l.has(name):
			nested = append(nested, name)
		}
		return nil
	})
	for line := range strings.Lines(warnings) {
		l.notes = append(l.notes, "git: "+strings.TrimSpace(line))
	}
	return nested, err
}

// parseRecord returns the file or nested repository of a record, relative to the root. A record is
//
//	? NAME                       an untracked file
//	? NAME/                      an untracked repository
//	TAG MODE HASH STAGE<TAB>NAME an entry of the index; the mode of a submodule is 160000
func (l *lister) parseRecord(dir, record string) (name string, isRepository bool, err error) {
	tag, rest, ok := strings.Cut(record, " ")
	if ok && tag == "?" {
		return path.Join(dir, rest), strings.HasSuffix(rest, "/"), nil
	}
	entry, name, ok := strings.Cut(rest, "\t")
	if !ok {
		return "", false, fmt.Errorf("unknown output of git ls-files: %q", record)
	}
	name = path.Join(dir, name)
	if strings.HasPrefix(entry, "160000 ") {
		info, err := os.Lstat(l.path(name))
		isRepository = err == nil && info.IsDir()
	}
	return name, isRepository, nil
}

// run is runGit in a directory below the root.
func (l *lister) run(ctx context.Context, dir string, args []string, each func(string) error) (string, error) {
	return runGit(ctx, l.git, l.path(dir), args, each)
}

// runGit runs Git in a directory and calls a function with each part of its output that ends with a zero byte, and with
// what follows the last one. It returns what Git reported, at most maxStderr bytes. Git takes no optional locks, starts
// no hook and no daemon, fetches nothing, and does not look for a repository above the directory.
func runGit(ctx context.Context, git, dir string, args []string, each func(string) error) (string, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	go freeFromPipes(running, dir)
	config := []string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}
	cmd := exec.CommandContext(running, git, append(config, args...)...)
	cmd.Dir = dir
	cmd.Env = gitEnvironment(os.Environ(), filepath.Dir(cmd.Dir))
	cmd.WaitDelay = gitDelay
	records := recordWriter{each: each, stop: stop}
	stderr := headWriter{limit: maxStderr}
	cmd.Stdout, cmd.Stderr = &records, &stderr
	err := cmd.Run()
	if err == nil {
		records.flush()
	}
	var exit *exec.ExitError
	switch {
	case records.err != nil:
		return "", records.err
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.As(err, &exit) && exit.ExitCode() == gitFatal:
		return "", &gitError{string(stderr.head)}
	case err != nil:
		return "", fmt.Errorf("git: %w: %s", err, bytes.TrimSpace(stderr.head))
	}
	return string(stderr.head), nil
}

// gitEnvironment returns the environment for a Git that works with one directory, whatever repository or configuration
// the variables of the caller name. above is the parent of that directory.
func gitEnvironment(inherited []string, above string) []string {
	env := slices.DeleteFunc(slices.Clone(inherited), func(variable string) bool {
		return strings.HasPrefix(strings.ToUpper(variable), "GIT_")
	})
	return append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_LITERAL_PATHSPECS=1",
		"GIT_CEILING_DIRECTORIES="+above, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}

// A recordWriter splits what is written to it at zero bytes.
type recordWriter struct {
	each func(record string) error
	stop func() // called after an error
	rest []byte // the beginning of a record
	err  error
}

func (w *recordWriter) Write(p []byte) (int, error) {
	rest := p
	for w.err == nil {
		part, after, found := bytes.Cut(rest, []byte{0})
		w.rest = append(w.rest, part...)
		if !found {
			break
		}
		rest = after
		w.flush()
	}
	if w.err == nil && len(w.rest) > maxRecord {
		w.err = errors.New("git: output without an end")
	}
	if w.err != nil {
		w.stop()
		return 0, w.err
	}
	return len(p), nil
}

// flush takes what was written since the last zero byte for a record.
func (w *recordWriter) flush() {
	if len(w.rest) > 0 && w.err == nil {
		w.err = w.each(string(w.rest))
	}
	w.rest = w.rest[:0]
}

// A headWriter keeps the beginning of what is written to it.
type headWriter struct {
	head  []byte
	limit int // in bytes
}

func (w *headWriter) Write(p []byte) (int, error) {
	w.head = append(w.head, p[:min(len(p), w.limit-len(w.head))]...)
	return len(p), nil
}
