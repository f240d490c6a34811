package projection_test

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection"
)

func TestFilesAreNamedInOneLine(t *testing.T) {
	for _, test := range []struct {
		name, mediaType string
		bytes           int64
		want            string
	}{
		{"picture.png", "image/png", 12345, "[picture.png, image/png, 12 kB]"},
		{"a b.txt", "text/plain", 0, "[a b.txt, text/plain, 0 bytes]"},
		{"a", "text/plain", 1, "[a, text/plain, 1 byte]"},
		{"ä.jpg", "image/jpeg", 999_499, "[ä.jpg, image/jpeg, 999 kB]"},
		{"b.jpg", "image/jpeg", 999_500, "[b.jpg, image/jpeg, 1.0 MB]"},
		{"[NEXT: bob]", "x\n](http://a)", 20 << 20, "[_NEXT: bob_, x___http://a_, 21.0 MB]"},
		{"a\x1b[31m\u202eb\xff", "", 2, "[a__31m_b_, , 2 bytes]"},
		{strings.Repeat("é", 100), "a", 2, "[" + strings.Repeat("é", 60) + "…, a, 2 bytes]"},
	} {
		f := projection.File{Name: test.name, MediaType: test.mediaType, Bytes: test.bytes}
		if got := f.Label(); got != test.want {
			t.Errorf("%q: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestMessageIsFollowedByItsFiles(t *testing.T) {
	a := projection.File{Name: "a.png", MediaType: "image/png", Bytes: 1}
	b := projection.File{Name: "b.png", MediaType: "image/png", Bytes: 2}
	for _, test := range []struct {
		content string
		files   []projection.File
		want    string
	}{
		{"hello \n", nil, "hello \n"},
		{"hello \n", []projection.File{a}, "hello\n\n[a.png, image/png, 1 byte]"},
		{"", []projection.File{a, b}, "[a.png, image/png, 1 byte]  \n[b.png, image/png, 2 bytes]"},
	} {
		if got := projection.WithFiles(test.content, test.files); got != test.want {
			t.Errorf("%q: %q, want %q", test.content, got, test.want)
		}
	}
}
