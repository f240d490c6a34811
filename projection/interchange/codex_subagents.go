package interchange

import (
	"bytes"
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// withBase returns the source of a whole thread of Codex: a rollout may continue one that began in another file, which
// its header names as history_base. The file has the id of the thread in its name. Without it, the source is returned.
func (s Source) withBase() (Source, error) {
	if s.File == nil {
		return s, nil
	}
	base, self := jsonValue(nil), ""
	lines := 0
	err := s.eachLine(func(_ int, line []byte) bool {
		if l, ok := newCodexLine(line); ok && l.kind == "session_meta" {
			base, self = bytes.Clone(l.payload.field("history_base")), l.payload.field("id").text()
			return false
		}
		lines++
		return lines < 100
	})
	id := cmp.Or(base.field("thread_id").text(), self)
	if err != nil || base == nil || id == "" || id != self { // that of another thread: it is a fork
		return s, err
	}
	var before []string
	s.eachRollout(codexRoot(s.Path), func(thread, path string) {
		// Their names begin with the time.
		if thread == id && filepath.Base(path) < filepath.Base(s.Path) {
			before = append(before, path)
		}
	})
	if len(before) == 0 {
		return s, nil
	}
	path := slices.MaxFunc(before, func(x, y string) int { return cmp.Compare(filepath.Base(x), filepath.Base(y)) })
	first, ok := s.File(path)
	if !ok {
		return s, nil
	}
	if end, _ := strconv.ParseInt(string(base.field("end_byte_offset")), 10, 64); end > 0 {
		whole := first.Open
		first.Open = func() (io.ReadCloser, error) {
			f, err := whole()
			return partOfFile{io.LimitReader(f, end), f}, err
		}
	}
	if first, err = first.withBase(); err != nil {
		return s, err
	}
	open := s.Open
	s.Open = func() (io.ReadCloser, error) { return openBoth(first.Open, open) }
	return s, nil
}

type partOfFile struct {
	io.Reader
	io.Closer
}

// openBoth opens one file, and then another.
func openBoth(first, second func() (io.ReadCloser, error)) (io.ReadCloser, error) {
	a, err := first()
	if err != nil {
		return nil, err
	}
	b, err := second()
	if err != nil {
		a.Close()
		return nil, err
	}
	return twoFiles{io.MultiReader(a, strings.NewReader("\n"), b), a, b}, nil
}

type twoFiles struct {
	io.Reader
	first, second io.Closer
}

func (f twoFiles) Close() error { return cmp.Or(f.first.Close(), f.second.Close()) }

// codexSubagents returns where the rollouts of the agents are that a session of Codex started. They
// may be of another day.
func codexSubagents(src Source) func(toolID, agentID string) []string {
	var rollouts map[string]string // by id of the agent; nil: not read yet
	return func(_, agentID string) []string {
		if agentID == "" {
			return nil
		}
		if rollouts == nil {
			rollouts = map[string]string{}
			src.eachRollout(codexRoot(src.Path), func(id, path string) { rollouts[id] = path })
		}
		if rollouts[agentID] == "" {
			return nil
		}
		return []string{rollouts[agentID]}
	}
}

// codexRoot returns the directory with the directories of the years, or that of the file.
func codexRoot(path string) string {
	dir := filepath.Dir(path)
	if root := filepath.Dir(filepath.Dir(filepath.Dir(dir))); filepath.Base(root) == "sessions" {
		return root
	}
	return dir
}

// eachRollout passes the rollouts below a directory, and the UUIDs at the ends of their names, to a function.
func (s Source) eachRollout(dir string, each func(id, path string)) {
	for _, entry := range s.List(dir) {
		path := filepath.Join(dir, entry.Name())
		if entry.IsDir() {
			s.eachRollout(path, each)
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(entry.Name(), ".zst"), ".jsonl")
		if strings.HasPrefix(name, "rollout-") && name != entry.Name() && len(name) > 36 {
			each(name[len(name)-36:], path)
		}
	}
}
