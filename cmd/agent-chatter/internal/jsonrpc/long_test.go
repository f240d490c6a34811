package jsonrpc

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestLongLinesAreAnsweredByTheirBeginning(t *testing.T) {
	const limit = 1 << 10
	long := `"` + strings.Repeat("x", maxHead) + `"`
	for name, test := range map[string]struct{ line, answer, passed string }{
		"request":            {`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":` + long + `}}`, `"id":7,"error"`, ""},
		"late id":            {`{"jsonrpc":"2.0","method":"ping","params":{"x":` + long + `},"id":7}`, `"id":null,"error"`, ""},
		"id in use":          {`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + long + `}`, `"id":null,"error"`, ""},
		"notification":       {`{"jsonrpc":"2.0","method":"ping","params":` + long + `}`, `"id":null,"error"`, ""},
		"response":           {`{"jsonrpc":"2.0","id":7,"result":` + long + `}`, "", `"id":7,"error"`},
		"error":              {`{"id":"a","error":{"message":` + long + `}}`, "", `"id":"a","error"`},
		"garbage":            {long, `"id":null,"error"`, ""},
		"id of a wrong type": {`{"id":{"a":1},"method":` + long + `}`, `"id":null,"error"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			in := request + "\n" + test.line + "\n"
			c := New(strings.NewReader(in), &out, Options{MaxLine: limit, Remedy: "send less"})
			defer c.Close()
			if _, err := c.Read(); err != nil {
				t.Fatal(err)
			}
			m, err := c.Read()
			if passes := err == nil; passes != (test.passed != "") || !strings.Contains(string(m.Line), test.passed) {
				t.Errorf("passed on: %q, %v", m.Line, err)
			}
			answer := out.String()
			if !strings.Contains(answer, test.answer) || (answer == "") != (test.answer == "") {
				t.Errorf("answered %q", answer)
			}
			if answer != "" && !strings.Contains(answer, "more than the limit of 1024: it was not read; send less") {
				t.Errorf("the reason is %q", answer)
			}
		})
	}
}

// endless yields n bytes after a beginning, and a newline.
type endless struct {
	io.Reader
	n int
}

func (e *endless) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	switch {
	case err == nil:
		return n, nil
	case e.n > 0:
		n = min(len(p), e.n)
		e.n -= n
		for i := range p[:n] {
			p[i] = 'x'
		}
		if e.n == 0 {
			p[n-1] = '\n'
		}
		return n, nil
	}
	return 0, io.EOF
}

func TestLongLinesAreNotKept(t *testing.T) {
	const size, limit = 100 << 20, 1 << 20
	var out bytes.Buffer
	beginning := strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"text":"`)
	c := New(&endless{beginning, size}, &out, Options{MaxLine: limit})
	defer c.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := c.Read(); err != io.EOF {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if !strings.Contains(out.String(), `"id":7,"error"`) {
		t.Errorf("answered %q", out.String())
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 20*limit {
		t.Errorf("a line of %d bytes took %d bytes of memory", size, took)
	}
}

func TestBytesInFlightAreLimited(t *testing.T) {
	second := strings.Replace(request, `"id":1`, `"id":2`, 1)
	var out bytes.Buffer
	c := New(strings.NewReader(request+"\n"+second+"\n"), &out, Options{MaxBytes: len(request) + 1})
	defer c.Close()
	if _, err := c.Read(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(); err != io.EOF {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"id":2,"error":{"code":-32000`) {
		t.Errorf("answered %q", out.String())
	}
}
