package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

const request = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestConnAnswersWhatIsNotPassedOn(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 1<<20) + `"}`
	for _, test := range []struct {
		name, line string
		passes     bool
		answer     string // part of it
	}{
		{"request", request, true, ""},
		{"request with white space", " \t" + request + " \r", true, ""},
		{"notification", `{"jsonrpc":"2.0","method":"ping"}`, true, ""},
		{"request with other members", `{"jsonrpc":"2.0","id":"a","method":"ping","_x":1,"params":{}}`, true, ""},
		{"response", `{"jsonrpc":"2.0","id":1,"result":null}`, true, ""},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}`, true, ""},
		{"blank line", " \t\r", false, ""},
		{"garbage", "\x00\xff{]", false, `"id":null,"error":{"code":-32700`},
		{"part of a message", request[:20], false, `"id":null,"error":{"code":-32700`},
		{"two messages", request + request, false, "-32700"},
		{"text that is not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", false, "-32700"},
		{"deep nesting", strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), false, "-32700"},
		{"long line", long, false, "more than the limit of 524288"},
		{"number", "1", false, "-32600"},
		{"batch", "[" + request + "]", false, "batches are not supported"},
		{"empty object", "{}", false, "-32600"},
		{"no version", `{"id":1,"method":"ping"}`, false, `"id":1,"error":{"code":-32600`},
		{"other version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, false, `"id":1,"error":{"code":-32600`},
		{"no method", `{"jsonrpc":"2.0","id":1}`, false, "-32600"},
		{"method that is a number", `{"jsonrpc":"2.0","id":1,"method":1}`, false, "-32600"},
		{"params that are a text", `{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}`, false, "-32600"},
		{"id that is null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, false, "-32600"},
		{"id that is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, false, "-32600"},
		{"id that is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, false, "-32600"},
		{"id that is rounded", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, false, "-32600"},
		{"long id", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 999) + `","method":"ping"}`, false, "-32600"},
		{"two ids", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, false, "more than one"},
		{"id in capitals", `{"jsonrpc":"2.0","id":1,"ID":2,"method":"ping"}`, false, "in capitals"},
		{"request and response", `{"jsonrpc":"2.0","id":1,"method":"ping","result":1}`, false, "-32600"},
		{"response with two results", `{"jsonrpc":"2.0","id":1,"result":1,"error":{}}`, false, ""},
		{"error without an id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}`, false, ""},
	} {
		for ending, end := range map[string]string{"with a newline": "\n", "at the end": ""} {
			t.Run(test.name+" "+ending, func(t *testing.T) {
				var out bytes.Buffer
				c := New(strings.NewReader(test.line+end), &out, Options{MaxLine: 512 << 10})
				defer c.Close()
				m, err := c.Read()
				if passes := err == nil; passes != test.passes || !passes && err != io.EOF {
					t.Errorf("got %q, %v", m.Line, err)
				}
				if passes := err == nil; passes {
					if _, err := c.Read(); err != io.EOF {
						t.Errorf("after it: %v", err)
					}
				}
				answers := strings.Count(out.String(), "\n")
				if want := min(1, len(test.answer)); answers != want || !strings.Contains(out.String(), test.answer) {
					t.Errorf("answered %q, want one with %q", out.String(), test.answer)
				}
			})
		}
	}
}

// answer is the answer to a request.
func answer(id string) []byte { return []byte(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`) }

func TestConnRefusesAnIDInUse(t *testing.T) {
	var out bytes.Buffer
	in, client := io.Pipe()
	c := New(in, &out, Options{})
	defer c.Close()
	send := func(lines ...string) {
		go fmt.Fprintln(client, strings.Join(lines, "\n"))
	}
	read := func(want string) {
		t.Helper()
		if m, err := c.Read(); err != nil || m.Method != want {
			t.Fatalf("got %q, %v, want %q", m.Method, err, want)
		}
	}
	request := func(id, method string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}`
	}
	send(request(`"a"`, "first"), request(`"\u0061"`, "second"), request(`1`, "third"))
	read("first")
	read("third")
	if got := out.String(); !strings.Contains(got, "in use") || !strings.Contains(got, `"id":null`) {
		t.Errorf("answered %q", got)
	}
	if err := c.Write(answer(`"a"`)); err != nil {
		t.Fatal(err)
	}
	send(request(`"a"`, "fourth"))
	read("fourth")
}

func TestConnRefusesTooManyRequests(t *testing.T) {
	var in, out bytes.Buffer
	for i := range 10 {
		fmt.Fprintf(&in, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n", i)
	}
	fmt.Fprintln(&in, `{"jsonrpc":"2.0","method":"cancel"}`)
	c := New(&in, &out, Options{MaxRequests: 3})
	defer c.Close()
	var passed []string
	for {
		m, err := c.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		passed = append(passed, m.Method)
	}
	if got := fmt.Sprint(passed); got != "[ping ping ping cancel]" {
		t.Errorf("passed on %s", got)
	}
	if n := strings.Count(out.String(), "3 requests are in flight"); n != 7 {
		t.Errorf("%d requests were refused: %s", n, out.String())
	}
	for i := range 3 {
		select {
		case <-c.Idle():
			t.Fatalf("idle with %d answers", i)
		default:
		}
		if err := c.Write(answer(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	<-c.Idle()
}

// A stuck writer is a client that does not read.
type stuck struct{ begun, end chan struct{} }

func (s stuck) Write(p []byte) (int, error) {
	close(s.begun)
	<-s.end
	return len(p), nil
}

func TestCloseEndsWrites(t *testing.T) {
	client := stuck{make(chan struct{}), make(chan struct{})}
	defer close(client.end)
	c := New(strings.NewReader(strings.Repeat("garbage\n", 1000)), client, Options{})
	ended := make(chan error)
	go func() {
		_, err := c.Read()
		ended <- err
	}()
	<-client.begun
	go func() { ended <- c.Write(answer("1")) }()
	c.Close()
	for range 2 {
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}

func TestWriteReturnsTheErrorOfTheStream(t *testing.T) {
	in, out := io.Pipe()
	out.CloseWithError(nil)
	in.CloseWithError(errors.New("no reader"))
	c := New(strings.NewReader(""), out, Options{})
	defer c.Close()
	for range 2 {
		if err := c.Write(answer("1")); err == nil || errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(request))
	f.Add(answer("1"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"a","error":{},"x":[{}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, refusal := Parse(line)
		if refusal != nil {
			if again, wrong := Parse(refusal.Line()); (refusal.ID != ID{}) && (wrong != nil || again.ID != refusal.ID) {
				t.Errorf("the answer is %s", refusal.Line())
			}
			return
		}
		if m.Method == "" && m.ID == (ID{}) {
			t.Errorf("%q has neither a method nor an id", line)
		}
	})
}

func TestHurryLeavesAClientThatDoesNotRead(t *testing.T) {
	client := stuck{make(chan struct{}), make(chan struct{})}
	defer close(client.end)
	c := New(strings.NewReader(""), client, Options{})
	ended := make(chan error)
	go func() { ended <- c.Write(answer("1")) }()
	<-client.begun
	c.Hurry(time.Millisecond)
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestHurryWaitsForAClientThatReads(t *testing.T) {
	var out bytes.Buffer
	c := New(strings.NewReader(""), &out, Options{})
	hurried := make(chan struct{})
	go func() {
		c.Hurry(time.Minute)
		close(hurried)
	}()
	for range 100 {
		if err := c.Write(answer("1")); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	<-hurried
}
