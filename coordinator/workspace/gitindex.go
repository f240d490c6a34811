package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// indexed is what Git's index has of a file.
type indexed struct {
	objects.Entry      // with the mode ModeInGit
	isLink        bool // the file is a link
	stat          stat // without the mode, and with the lower 32 bits of the size and the inode
}

// isAsNow reports whether a file is as it was when Git compared it with its content. Git itself would also compare the
// contents, for which it may run programs that the repository configures.
func (x indexed) isAsNow(now stat) bool {
	want := uint32(objects.ModeFile)
	if x.isLink {
		want = objects.ModeLink
	}
	if now.mode&objects.ModeType != want || uint32(now.size) != uint32(x.stat.size) || now.mtime != x.stat.mtime {
		return false
	}
	// Without an inode, as on Windows, the time of the change of the inode is unknown, too.
	return now.inode == 0 || now.ctime == x.stat.ctime && uint32(now.inode) == uint32(x.stat.inode)
}

// indexTime returns when the index of a repository was written, in nanoseconds since 1970; 0: it has none.
func (l *lister) indexTime(ctx context.Context, dir string) (int64, error) {
	var name string
	_, err := l.run(ctx, dir, []string{"rev-parse", "--git-path", "index"}, func(output string) error {
		name = strings.TrimSuffix(output, "\n")
		return nil
	})
	var failed *gitError
	if errors.As(err, &failed) { // what lists the files handles that
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(l.path(dir), name)
	}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.ModTime().UnixNano(), nil
}

// An indexRecord is a record of git ls-files --debug. What the index knows of a file follows the zero byte after its
// name, in debugLines lines, and precedes the next record:
//
//	ctime: SECONDS:NANOSECONDS
//	mtime: SECONDS:NANOSECONDS
//	dev: N<TAB>ino: N
//	uid: N<TAB>gid: N
//	size: N<TAB>flags: HEX
type indexRecord struct {
	name    string // "": no entry of the index
	entry   indexed
	isOther bool // a version of a merge conflict, or a submodule
}

const debugLines = 5

// begin takes a record up to its zero byte: TAG MODE HASH STAGE<TAB>NAME. Records of untracked files are none.
func (r *indexRecord) begin(record, name string) {
	if strings.HasPrefix(record, "? ") {
		return
	}
	head, _, _ := strings.Cut(record, "\t")
	fields := strings.Fields(head)
	if len(fields) != 4 {
		return
	}
	r.name, r.isOther = name, fields[3] != "0" || fields[1] == "160000"
	r.entry = indexed{Entry: objects.GitEntry(fields[1], fields[2]), isLink: fields[1] == "120000"}
}

// end takes what follows the zero byte of a record, adds its file to those that can be compared, and returns the next
// record. A file that may have changed after Git compared it, in the same tick of the clock, is not added.
func (r *indexRecord) end(text string, l *lister) (next string, err error) {
	if r.name == "" {
		return text, nil
	}
	end := 0
	for range debugLines {
		n := strings.IndexByte(text[end:], '\n')
		if n < 0 {
			return "", fmt.Errorf("unknown output of git ls-files --debug: %q", text)
		}
		end += n + 1
	}
	if r.entry.stat, err = parseIndexStat(text[:end]); err != nil {
		return "", err
	}
	isOld := max(r.entry.stat.mtime, r.entry.stat.ctime) < l.indexed-int64(racy)
	if isOld && !r.isOther && l.has(r.name) {
		l.tracked[r.name] = r.entry
	}
	*r = indexRecord{}
	return text[end:], nil
}

// parseIndexStat parses the lines of an indexRecord.
func parseIndexStat(text string) (stat, error) {
	var n [9]int64 // ctime, mtime, dev, ino, uid, gid, size
	i := 0
	isNoDigit := func(r rune) bool { return r < '0' || r > '9' }
	for digits := range strings.FieldsFuncSeq(text, isNoDigit) {
		if i == len(n) {
			break
		}
		var err error
		if n[i], err = strconv.ParseInt(digits, 10, 64); err != nil {
			break
		}
		i++
	}
	if i < len(n) || !strings.HasPrefix(text, "  ctime: ") {
		return stat{}, fmt.Errorf("unknown output of git ls-files --debug: %q", text)
	}
	const second = 1e9
	return stat{ctime: n[0]*second + n[1], mtime: n[2]*second + n[3], inode: uint64(n[5]), size: n[8]}, nil
}
