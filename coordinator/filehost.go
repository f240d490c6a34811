package coordinator

import "github.com/agent-chatter/agent-chatter/projection"

// withHost returns an event of files or worktrees with its field Host: a hash of the others with a secret key of the
// home and the machine. Only such events are believed when files are set back, or worktrees used. A session from
// elsewhere could otherwise name any directory, and trees that its author knows.
func withHost(key []byte, p projection.Payload) projection.Payload {
	switch p := p.(type) {
	case projection.FilesCaptured:
		p.Host = ""
		p.Host = keyedHash(key, "files.captured", p)
		return p
	case projection.FilesChanged:
		p.Host = ""
		p.Host = keyedHash(key, "files.changed", p)
		return p
	case projection.FilesRestoring:
		p.Host = ""
		p.Host = keyedHash(key, "files.restoring", p)
		return p
	case projection.FilesRestored:
		p.Host = ""
		p.Host = keyedHash(key, "files.restored", p)
		return p
	case projection.WorktreeCreated:
		p.Host = ""
		p.Host = keyedHash(key, "worktree.created", p)
		return p
	case projection.WorktreeMerged:
		p.Host = ""
		p.Host = keyedHash(key, "worktree.merged", p)
		return p
	}
	return p
}

// RecordedHere reports whether the home with the key has recorded an event of files. Other payloads are of none.
func RecordedHere(key []byte, p projection.Payload) bool {
	host := func(p projection.Payload) string {
		switch p := p.(type) {
		case projection.FilesCaptured:
			return p.Host
		case projection.FilesChanged:
			return p.Host
		case projection.FilesRestoring:
			return p.Host
		case projection.FilesRestored:
			return p.Host
		case projection.WorktreeCreated:
			return p.Host
		case projection.WorktreeMerged:
			return p.Host
		}
		return ""
	}
	return len(key) > 0 && host(p) != "" && host(p) == host(withHost(key, p))
}
