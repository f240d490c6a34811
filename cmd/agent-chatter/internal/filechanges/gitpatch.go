package filechanges

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" // the names of Git's objects, which it demands of patches of binary files
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// A side is a file or link before or after a change. The zero side is absent.
type side struct {
	mode    uint32 // as Git has it; 0: absent
	content []byte
}

// The modes of Git.
const (
	gitFile       = 0o100644
	gitExecutable = 0o100755
	gitLink       = 0o120000
)

// gitMode returns the mode of Git for an entry; 0: it is absent.
func gitMode(e objects.Entry) uint32 {
	switch {
	case e.Type() == objects.ModeLink:
		return gitLink
	case e.Type() == objects.ModeFile && e.Mode&0o100 != 0:
		return gitExecutable
	case e.Type() == objects.ModeFile:
		return gitFile
	}
	return 0
}

// gitDiff returns what git apply takes to change a path, with the content of binary files in both directions; nil: Git
// knows no difference.
func gitDiff(path string, before, after side) []byte {
	if before.mode != 0 && after.mode != 0 && (before.mode == gitLink) != (after.mode == gitLink) {
		return append(gitDiff(path, before, side{}), gitDiff(path, side{}, after)...)
	}
	same := bytes.Equal(before.content, after.content)
	if same && before.mode == after.mode {
		return nil
	}
	var out bytes.Buffer
	out.WriteString(gitHead(path, before, after))
	switch {
	case same:
	case isBinary(before.content) || isBinary(after.content):
		out.WriteString("GIT binary patch\n")
		writeLiteral(&out, after.content)
		writeLiteral(&out, before.content)
	default:
		out.WriteString(textHunks(path, before, after))
	}
	return out.Bytes()
}

// gitHead returns the lines before the content.
func gitHead(path string, before, after side) string {
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git %s %s\n", gitName("a/"+path), gitName("b/"+path))
	mode := ""
	switch {
	case before.mode == 0:
		fmt.Fprintf(&b, "new file mode %o\n", after.mode)
	case after.mode == 0:
		fmt.Fprintf(&b, "deleted file mode %o\n", before.mode)
	case before.mode != after.mode:
		fmt.Fprintf(&b, "old mode %o\nnew mode %o\n", before.mode, after.mode)
	default:
		mode = fmt.Sprintf(" %o", after.mode)
	}
	if before.mode == 0 || after.mode == 0 || !bytes.Equal(before.content, after.content) {
		fmt.Fprintf(&b, "index %s..%s%s\n", blobName(before), blobName(after), mode)
	}
	return b.String()
}

// blobName returns the name of a blob in a repository with SHA-1.
func blobName(s side) string {
	if s.mode == 0 {
		return strings.Repeat("0", 2*sha1.Size)
	}
	return fmt.Sprintf("%x", sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(s.content)), s.content...)))
}

// textHunks returns the names and the hunks of a change of text; "" if the file is empty before and after.
func textHunks(path string, before, after side) string {
	_, hunks, _ := strings.Cut(string(diff.Diff("a", before.content, "b", after.content)), "\n+++ b\n")
	if hunks == "" {
		return ""
	}
	names := [2]string{"/dev/null", "/dev/null"}
	for i, s := range []side{before, after} {
		if s.mode == 0 {
			continue
		}
		names[i] = gitName([]string{"a/", "b/"}[i] + path)
		if strings.Contains(names[i], " ") && names[i][0] != '"' {
			names[i] += "\t" // ends the name
		}
	}
	return fmt.Sprintf("--- %s\n+++ %s\n%s", names[0], names[1], hunks)
}

// isBinary reports whether a content is not text for a patch.
func isBinary(content []byte) bool { return bytes.IndexByte(content, 0) >= 0 }

// gitName quotes a name as Git does.
func gitName(name string) string {
	var b strings.Builder
	quoted := false
	for _, c := range []byte(name) {
		const special, letters = "\a\b\t\n\v\f\r\"\\", `abtnvfr"\`
		switch at := strings.IndexByte(special, c); {
		case at >= 0:
			b.WriteString(`\` + letters[at:at+1])
			quoted = true
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
			quoted = true
		default:
			b.WriteByte(c)
		}
	}
	if !quoted {
		return name
	}
	return `"` + b.String() + `"`
}

// maxLiteralLine is how many bytes a line of a literal encodes.
const maxLiteralLine = 52

// writeLiteral writes the content of a binary file: deflated, in base 85.
func writeLiteral(out *bytes.Buffer, content []byte) {
	var deflated bytes.Buffer
	z := zlib.NewWriter(&deflated)
	z.Write(content) // a buffer takes all
	z.Close()
	fmt.Fprintf(out, "literal %d\n", len(content))
	for deflated.Len() > 0 {
		line := deflated.Next(maxLiteralLine)
		length := byte('A' + len(line) - 1)
		if len(line) > 26 {
			length = byte('a' + len(line) - 27)
		}
		out.WriteByte(length)
		for len(line) > 0 {
			var group [4]byte
			line = line[copy(group[:], line):]
			out.Write(base85(group))
		}
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
}

// base85 returns four bytes as Git encodes them.
func base85(group [4]byte) []byte {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	var encoded [5]byte
	value := binary.BigEndian.Uint32(group[:])
	for i := len(encoded) - 1; i >= 0; i-- {
		encoded[i] = digits[value%85]
		value /= 85
	}
	return encoded[:]
}
