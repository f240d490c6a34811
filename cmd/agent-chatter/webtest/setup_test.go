package webtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var pictures = flag.String("pictures", "", "directory for screenshots (default: none)")

// The bounds of tests that wait for something which does not happen.
const (
	patience     = 3 * time.Minute
	fullPatience = time.Hour // for figures at full size
)

// build builds the program once.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "webtest-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "agent-chatter")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/agent-chatter")
	cmd.Dir = filepath.Join("..", "..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// program returns the path of the program.
func program(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a command of the program with a home and returns its output.
func run(t testing.TB, home string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program(t), append([]string{"--home", home}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%v: %v\n%s", args, err, exit.Stderr)
		}
		t.Fatal(err)
	}
	return string(out)
}

// A server is a running `agent-chatter serve`.
type server struct {
	Address, Origin, Token, Pair string
	process                      *os.Process
}

// serve serves the sessions of a home until the test ends.
func serve(t testing.TB, home string, flags ...string) *server {
	t.Helper()
	cmd := exec.Command(program(t), append([]string{"--home", home, "serve", "--output", "json"}, flags...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	s := &server{process: cmd.Process}
	if err == nil {
		err = json.Unmarshal(line, s)
	}
	if err != nil {
		t.Fatalf("serve: %v: %s", err, line)
	}
	return s
}

// address returns the address of a path with the token. fragment may be empty.
func (s *server) address(path, fragment string) string {
	if fragment != "" {
		fragment = "&" + fragment
	}
	return s.Origin + path + "#token=" + s.Token + fragment
}

// browser starts Chromium once. Its tabs are closed by the tests.
var browser = sync.OnceValues(func() (context.Context, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(patience))
	ctx, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx)
	return ctx, chromedp.Do(ctx)
})

// A tab is a tab of the browser.
type tab struct {
	testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

// newTab opens a tab. An error of a script, a violation of the content security policy and a dialog fail the test.
func newTab(t testing.TB) *tab {
	t.Helper()
	parent, err := browser()
	if err != nil {
		if os.Getenv("CI") != "" || !errors.Is(err, exec.ErrNotFound) {
			t.Fatal(err)
		}
		t.Skip("Chromium is missing: ", err)
	}
	ctx, cancel := chromedp.NewContext(parent)
	t.Cleanup(cancel)
	limit := patience
	if *full {
		limit = fullPatience
	}
	ctx, cancelTimeout := context.WithTimeout(ctx, limit)
	t.Cleanup(cancelTimeout)
	b := &tab{TB: t, ctx: ctx}
	b.run(chromedp.EmulateViewport(1000, 800), call(log.Enable, cdp.Empty{}))
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.report)
	return b
}

// open opens an address in a new tab.
func open(t testing.TB, address string) *tab {
	t.Helper()
	b := newTab(t)
	b.run(chromedp.Navigate(address))
	return b
}

// hear notes what a page must not do.
func (b *tab) hear(event any) {
	problem := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		problem = e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			problem += ": " + e.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity {
			problem = e.Entry.Text + " " + e.Entry.URL
		}
	case *page.EventJavascriptDialogOpening:
		problem = "a dialog: " + e.Message
	}
	if problem != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.problems = append(b.problems, problem)
	}
}

func (b *tab) report() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, problem := range b.problems {
		b.Errorf("the page: %s", problem)
	}
	if b.Failed() && b.ctx.Err() == nil {
		text, _ := chromedp.Run(b.ctx,
			chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText.slice(0, 300)"))
		b.Logf("the page at the end: %s", text)
	}
}

// call is the action of a command of the browser.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// run runs actions.
func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// do runs a statement in the page.
func (b *tab) do(statement string) {
	b.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](statement))
}

// wait waits until an expression is true. An expression that fails is false: what it is about may be missing yet.
func (b *tab) wait(expression string) {
	b.Helper()
	poll := `new Promise(resolve => {
		const check = () => {
			try { if (` + expression + `) return resolve(true); } catch {}
			setTimeout(check, 10);
		};
		check();
	})`
	for {
		_, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](poll, chromedp.EvalAwaitPromise))
		switch {
		case err == nil:
			return
		case b.ctx.Err() != nil:
			b.Fatalf("waiting for %s: %v", expression, err)
		} // The page was left meanwhile.
	}
}

// value returns the value of an expression.
func value[T any](b *tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return v
}

// press presses keys. Unlike chromedp.KeyEvent, it types nothing if the page prevents the default of the key.
func (b *tab) press(keys string) {
	b.Helper()
	for _, key := range keys {
		events := kb.Encode(key)
		down, up := events[0], events[len(events)-1]
		if len(events) == 3 {
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		b.run(call(input.DispatchKeyEvent, *down), call(input.DispatchKeyEvent, *up))
	}
}

// scheme sets the colour scheme that the system prefers, and more contrast if its name ends so.
func (b *tab) scheme(name string) {
	b.Helper()
	name, more := strings.CutSuffix(name, moreContrast)
	contrast := map[bool]string{false: "no-preference", true: "more"}[more]
	b.run(call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-contrast", Value: contrast},
	}}))
}

const moreContrast = "-contrast"

// picture writes a screenshot if there is a directory for them.
func (b *tab) picture(name string) {
	b.Helper()
	if *pictures == "" {
		return
	}
	image, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(*pictures, name+".png"), image, 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
}
