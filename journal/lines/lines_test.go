package lines_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

func ExampleReader() {
	r := lines.NewReader(strings.NewReader("one\ntwo\na line of 19 bytes\nthree\nfo"), 10)
	for {
		line, err := r.Next()
		switch err {
		case nil:
			fmt.Printf("%s\n", line)
		case lines.ErrTooLong:
			n, _ := r.Skip(nil)
			fmt.Printf("%d bytes skipped\n", n)
		default:
			fmt.Printf("%v, rest %q\n", err, r.Rest())
			return
		}
	}
	// Output:
	// one
	// two
	// 19 bytes skipped
	// three
	// EOF, rest "fo"
}

// read describes all that a Reader returns.
func read(r *lines.Reader) string {
	var got strings.Builder
	for {
		line, err := r.Next()
		switch {
		case err == nil:
			fmt.Fprintf(&got, "%s|", line)
		case errors.Is(err, lines.ErrTooLong):
			var skipped bytes.Buffer
			n, err := r.Skip(func(piece []byte) { skipped.Write(piece) })
			fmt.Fprintf(&got, "%d of %d, %v|", skipped.Len(), n, err)
		case err == io.EOF:
			fmt.Fprintf(&got, "rest %s", r.Rest())
			return got.String()
		default:
			fmt.Fprint(&got, err)
			return got.String()
		}
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ input, want string }{
		{"", "rest "},
		{"one\ntwo\n", "one|two|rest "},
		{"one\ntwo", "one|rest two"},
		{"\n\n\r\n", "||\r|rest "},
		{"12345678\nshort\n", "12345678|short|rest "},
		{"123456789", "rest 123456789"},
		{"123456789\nshort\n", "9 of 10, <nil>|short|rest "},
		{"1234567890", "10 of 10, EOF|rest "},
		{long + "\nshort", "1048576 of 1048577, <nil>|rest short"},
		{long, "1048576 of 1048576, EOF|rest "},
	} {
		for name, source := range map[string]io.Reader{
			"at once":       strings.NewReader(c.input),
			"byte by byte":  iotest.OneByteReader(strings.NewReader(c.input)),
			"EOF with data": iotest.DataErrReader(strings.NewReader(c.input)),
		} {
			if got := read(lines.NewReader(source, 9)); got != c.want {
				t.Errorf("%.20q, %s: got %q, want %q", c.input, name, got, c.want)
			}
		}
	}
}

func TestReaderContinuesWhenTheStreamGrows(t *testing.T) {
	var stream bytes.Buffer
	r := lines.NewReader(&stream, 9)
	for _, step := range []struct{ add, want string }{
		{"on", "rest on"},
		{"e\ntwo", "one|rest two"},
		{"", "rest two"},
		{"\n\n", "two||rest "},
	} {
		stream.WriteString(step.add)
		if got := read(r); got != step.want {
			t.Errorf("after %q: got %q, want %q", step.add, got, step.want)
		}
	}
}

func TestReaderReturnsErrorsOfTheStream(t *testing.T) {
	broken := errors.New("broken")
	stream := io.MultiReader(strings.NewReader("one\ntw"), iotest.ErrReader(broken))
	if got, want := read(lines.NewReader(stream, 9)), "one|broken"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := lines.NewReader(iotest.ErrReader(broken), 9).More(); err != broken {
		t.Errorf("More: got %v, want %v", err, broken)
	}
	if got := read(lines.NewReader(idle{}, 9)); got != io.ErrNoProgress.Error() {
		t.Errorf("a stream that returns nothing: got %q", got)
	}
}

// chunks returns one chunk per read; "" is a temporary end of the stream. err is returned
// with the last chunk before the first end, io.EOF with the last chunk before each later one.
type chunks struct {
	left []string
	err  error
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.left) == 0 {
		return 0, io.EOF
	}
	n, err := copy(p, c.left[0]), error(nil)
	if c.left = c.left[1:]; len(c.left) == 0 || c.left[0] == "" {
		err, c.err = c.err, io.EOF
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, err
}

func TestErrorWithDataIsReturnedOnceAfterTheData(t *testing.T) {
	broken := errors.New("broken")
	r := lines.NewReader(&chunks{[]string{"one\ntw", "", "o\n"}, broken}, 9)
	for _, want := range []string{"one|broken", "rest tw", "two|rest "} {
		if got := read(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// idle returns neither bytes nor an error.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestMoreReportsWhetherAByteFollows(t *testing.T) {
	r := lines.NewReader(strings.NewReader("one\n\n"), 9) // one byte is left after the first line
	for _, want := range []bool{true, true, false} {
		if more, err := r.More(); more != want || err != nil {
			t.Errorf("got %v, %v; want %v", more, err, want)
		}
		r.Next()
	}
}

func TestMemoryStaysNearTheLimit(t *testing.T) {
	const limit = 1 << 20
	r := lines.NewReader(io.MultiReader(
		strings.NewReader(strings.Repeat("x", 64<<20)+"\n"), strings.NewReader("short\n")), limit)
	if _, err := r.Next(); err != lines.ErrTooLong {
		t.Fatalf("got %v, want %v", err, lines.ErrTooLong)
	}
	if n := cap(r.Rest()); n > 2*limit {
		t.Errorf("%d bytes are buffered for a limit of %d", n, limit)
	}
	r.Skip(nil)
	if line, err := r.Next(); string(line) != "short" || err != nil {
		t.Errorf("got %q, %v", line, err)
	}
}
