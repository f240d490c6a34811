package workspace

import (
	"crypto/sha1" // the names of Git's objects
	"crypto/sha256"
	"fmt"
	"iter"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// PartialError is the error of a comparison of a capture with one that lacks the files that Git has.
type PartialError struct{}

func (*PartialError) Error() string { return "only one of the two captures has the files that Git has" }

// Compare yields what is known to differ between two trees, in the order of the names. A file that was captured and
// then is as in Git's index is left out: Git may have it as it was. Errors are a *PartialError and those of the store;
// the sequence ends after one.
func (w *Workspace) Compare(before, after objects.Hash) iter.Seq2[objects.Change, error] {
	return func(yield func(objects.Change, error) bool) {
		if partial, err := isMixed(w.store, before, after); partial || err != nil {
			if err == nil {
				err = &PartialError{}
			}
			yield(objects.Change{}, err)
			return
		}
		for c, err := range w.store.Compare(before, after) {
			if (err != nil || w.isKnown(c)) && !yield(c, err) {
				return
			}
		}
	}
}

// isMixed reports whether exactly one of two trees lacks the files that Git has.
func isMixed(s *objects.Store, a, b objects.Hash) (bool, error) {
	if a == b {
		return false, nil
	}
	first, err := s.IsPartial(a)
	if err != nil {
		return false, err
	}
	second, err := s.IsPartial(b)
	return first != second, err
}

// isKnown reports whether a path is known to differ.
func (w *Workspace) isKnown(c objects.Change) bool {
	switch {
	case c.After.Type() == objects.ModeInGit && !c.Before.IsZero() && c.Before.Type() != objects.ModeInGit:
		return false
	case c.Before.Type() == objects.ModeInGit && c.After.Stored():
		content, err := w.store.Read(c.After.Hash)
		return err != nil || !isGitEntry(c.Before, c.After.Mode, content)
	}
	return true
}

// isGitEntry reports whether Git has a content as it is: without a filter, and with the mode.
func isGitEntry(e objects.Entry, mode uint32, content []byte) bool {
	octal := "100644"
	switch {
	case mode == objects.ModeLink:
		octal = "120000"
	case mode&0o100 != 0:
		octal = "100755"
	}
	object := fmt.Appendf(nil, "blob %d\x00%s", len(content), content)
	return e == objects.GitEntry(octal, fmt.Sprintf("%x", sha1.Sum(object))) ||
		e == objects.GitEntry(octal, fmt.Sprintf("%x", sha256.Sum256(object)))
}
