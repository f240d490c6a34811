package app

import (
	"os"
	"strings"
	"testing"
)

func TestOnlyYesConfirms(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "Y\n": true, "yes\n": true, "YES\n": true, "yes": true, "n\n": false, "no\n": false, "yet\n": false,
		"\n": false, "": false,
	} {
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.WriteString(answer); err != nil {
			t.Fatal(err)
		}
		out.Close()
		var shown strings.Builder
		a := &Printer{IO: IO{Stdin: in, Stderr: &shown}}
		if got, err := a.Confirm("Go?"); got != want || err != nil || shown.String() != "Go? [y/N] " {
			t.Errorf("%q: %v, %v, it asked %q", answer, got, err, shown.String())
		}
		in.Close()
		if yes, err := a.Confirm("Go?"); yes || err == nil {
			t.Errorf("on a closed file: %v, %v", yes, err)
		}
	}
}
