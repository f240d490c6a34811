package journal_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// docLines returns the lines of the journal in the package comment.
func docLines(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	must(t, err)
	var lines []string
	for line := range strings.Lines(file.Doc.Text()) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, `{"seq":`) {
			lines = append(lines, line)
		}
	}
	if len(lines) < 3 {
		t.Fatalf("doc.go shows %d lines of a journal", len(lines))
	}
	return lines
}

// The script relies only on the table of fields in doc.go. It uses neither a table
// of remainders nor a module.
func TestDocumentedSumInPerl(t *testing.T) {
	perl := programtest.Path(t, "perl")
	script, err := os.ReadFile("testdata/sum.pl")
	must(t, err)
	if n := bytes.Count(script, []byte("\n")); n > 20 {
		t.Errorf("the script has %d lines", n)
	}
	lines := docLines(t)
	cmd := exec.Command(perl, "testdata/sum.pl")
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var sums []string
	for _, line := range lines {
		sums = append(sums, line[len(line)-10:len(line)-2])
	}
	if got := strings.Fields(string(out)); strings.Join(got, " ") != strings.Join(sums, " ") {
		t.Errorf("perl computes %v, doc.go shows %v", got, sums)
	}
}

func TestDocumentedSumBitByBit(t *testing.T) {
	prev := "00000000"
	for i, line := range docLines(t) {
		body, sum := line[:len(line)-18], line[len(line)-10:len(line)-2]
		crc := ^uint32(0)
		for _, c := range []byte(prev + body) {
			crc ^= uint32(c)
			for range 8 {
				low := crc & 1
				if crc >>= 1; low == 1 {
					crc ^= 0x82F63B78
				}
			}
		}
		if got := hex8(^crc); got != sum {
			t.Errorf("line %d has the sum %s, doc.go shows %s", i+1, got, sum)
		}
		prev = sum
	}
}

func hex8(n uint32) string {
	const digits = "0123456789abcdef"
	var text [8]byte
	for i := range text {
		text[i] = digits[n>>(28-4*i)&15]
	}
	return string(text[:])
}

func TestDocumentationShowsTheExample(t *testing.T) {
	source := string(readFile(t, "example_test.go"))
	_, output, _ := strings.Cut(source, "// Output:\n")
	var lines []string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "// ") {
			lines = append(lines, line[3:])
		}
	}
	if got, want := strings.Join(docLines(t), "\n"), strings.Join(lines, "\n"); got != want {
		t.Errorf("doc.go shows\n%s\nthe example writes\n%s", got, want)
	}
}
