package workspace

import (
	"context"
	"io/fs"
	"path/filepath"
	"time"
)

const (
	pipesDelay    = 2 * time.Second       // after which Git may be waiting for a pipe
	pipesInterval = 20 * time.Millisecond // at which the pipes are tried, since Git opens one after the other
)

// readByGit are files in a .git that Git opens when it lists files.
var readByGit = []string{"HEAD", "config", "index", "info/exclude", "packed-refs"}

// freeFromPipes frees a Git that lists a directory from named pipes in the place of its files, such as a .gitignore:
// opening one waits until a process opens it for writing, and an empty file has no patterns. It does so until the
// context ends, and looks for pipes only if that takes long.
func freeFromPipes(ctx context.Context, dir string) {
	wait := pipesDelay
	var pipes []string
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if wait = pipesInterval; pipes == nil {
			pipes = findPipes(ctx, dir)
		}
		if len(pipes) == 0 {
			return
		}
		for _, pipe := range pipes {
			freeReader(pipe)
		}
	}
}

// findPipes returns the named pipes that Git waits for below a directory. It opens no file.
func findPipes(ctx context.Context, dir string) (pipes []string) {
	_ = filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil: // Git cannot read it, either
			return nil
		case entry.Name() == ".gitignore" && entry.Type()&fs.ModeNamedPipe != 0:
			pipes = append(pipes, file)
		case entry.Name() == ".git" && entry.IsDir():
			for _, name := range readByGit {
				if name = filepath.Join(file, filepath.FromSlash(name)); isPipe(name) {
					pipes = append(pipes, name)
				}
			}
			return fs.SkipDir
		}
		return nil
	})
	return pipes
}
