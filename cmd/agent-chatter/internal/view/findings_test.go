package view

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// newList returns a Findings on a terminal of so many columns.
func newList(t *testing.T, out io.Writer, columns int, profile ansi.Profile) *Findings {
	t.Helper()
	home := t.TempDir()
	t.Setenv("AGENT_CHATTER_HOME", home)
	a, err := app.New(app.IO{Stdout: out, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	l := &Findings{app: a, style: Style{Width: columns, Profile: profile}, worst: app.StateOK}
	a.Present = l.present
	return l
}

func TestLinesOfFindings(t *testing.T) {
	const path = "/home/eva/a/directory/whose/path/is/longer/than/the/terminal/is/wide"
	for _, tt := range []struct {
		name    string
		columns int
		finding app.Finding
		want    string
	}{
		{"good", 80, app.Fine("it is fine"), "✓ it is fine\n"},
		{"a note", 80, app.Note("it is odd", ""), "⚠ it is odd\n"},
		{"a problem", 80, app.Wrong("it is bad", ""), "✗ it is bad\n"},
		{"a check", 80, app.Finding{Check: "space", State: app.StateOK, What: "it is fine"}, "✓ space  it is fine\n"},
		{"advice", 80, app.Wrong("it is bad", "Be careful.\n   Be quick."), "✗ it is bad\n  Be careful.\n     Be quick.\n"},
		{"a list", 30, app.Fine("it runs:\n  ada: cat -u /home/eva --all --long\n    directory: /home"),
			"✓ it runs:\n    ada: cat -u /home/eva\n    --all --long\n      directory: /home\n"},
		{"a blank line", 30, app.Fine("one\n\ntwo"), "✓ one\n\n  two\n"},
		{"a command", 80, app.Wrong("it is bad", "", app.To("repair it", "repair", "a b")),
			"✗ it is bad\n  To repair it:\n    agent-chatter repair 'a b'\n"},
		{"advice and commands", 80, app.Note("it is odd", "Wait.", app.ToRun("see", "ls"), app.ToRun("go", "cd", path)),
			"⚠ it is odd\n  Wait.\n  To see:\n    ls\n  To go:\n    cd " + path + "\n"},
		{"long text", 20, app.Wrong("it is bad in all respects", "Be careful with it now.", app.ToRun("see all of what there is", "ls")),
			"✗ it is bad in all\n  respects\n  Be careful with\n  it now.\n  To see all of\n  what there is:\n    ls\n"},
		{"a text as wide as the terminal", 12, app.Fine("123456 89"), "✓ 123456 89\n"},
		{"a text that is wider", 13, app.Fine("123456 8901"), "✓ 123456\n  8901\n"},
		{"a long path", 50, app.Wrong("not accessible: "+path+" (0644)", "", app.ToRun("permit access", "chmod", "u+r", path)),
			"✗ not accessible:\n  " + path + "\n  (0644)\n  To permit access:\n    chmod u+r " + path + "\n"},
		{"lines", 80, app.Wrong("it is\nbad", ""), "✗ it is\n  bad\n"},
		{"a slash command, which cannot be typed", 80, app.Wrong("it is bad", "", app.Help{Purpose: "retry"}), "✗ it is bad\n"},
		{"hostile", 200, app.Wrong(apptest.Hostile, apptest.Hostile),
			"✗ a␛[31m\n  b\ufffdc$(touch pwned)`touch pwned`;touch pwned\n  a␛[31m\n  b\ufffdc$(touch pwned)`touch pwned`;touch pwned\n"},
		{"on a terminal of one column", 1, app.Fine("one two three four"), "✓ one two\n  three four\n"},
	} {
		var out strings.Builder
		if err := newList(t, &out, tt.columns, ansi.NoColor).Add(tt.finding); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestChecksAreAColumn(t *testing.T) {
	var out strings.Builder
	l := newList(t, &out, 40, ansi.NoColor)
	l.checks = len("permissions")
	disk := app.Fine("files can be written and synced")
	disk.Check = "disk"
	modes := app.Wrong("1 file is open to all users", "", app.ToRun("restrict it", "chmod", "-R", "go=", "/home/eva"))
	modes.Check = "permissions"
	want := "✓ disk         files can be written and\n" +
		"               synced\n" +
		"✗ permissions  1 file is open to all\n" +
		"               users\n" +
		"               To restrict it:\n" +
		"                 chmod -R go= /home/eva\n" +
		"⚠ a finding of none\n" +
		"\n" +
		"✗ 2 checks: 1 problem.\n"
	err := errors.Join(l.Add(disk), l.Add(modes), l.Add(app.Note("a finding of none", "")), l.End("2 checks: 1 problem.", nil))
	if diff := cmp.Diff(want, out.String()); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestFindingsHaveColors(t *testing.T) {
	var out strings.Builder
	l := newList(t, &out, 80, ansi.Color16)
	err := errors.Join(l.Begin("ada"), l.Add(app.Fine("one")), l.Begin("bob"),
		l.Add(app.Note("two", "Wait.")), l.Add(app.Wrong("three", "", app.ToRun("see", "ls"))), l.End("Done.", nil))
	want := "\x1b[1mada\x1b[m\n" +
		"\x1b[32m✓\x1b[m one\n" +
		"\n\x1b[1mbob\x1b[m\n" +
		"\x1b[33m⚠\x1b[m two\n" +
		"  \x1b[2mWait.\x1b[m\n" +
		"\x1b[31m✗\x1b[m three\n" +
		"  \x1b[2mTo see:\x1b[m\n" +
		"    \x1b[36mls\x1b[m\n" +
		"\n\x1b[31m✗\x1b[m \x1b[1mDone.\x1b[m\n"
	want = strings.NewReplacer("m✓\x1b[m ", "m✓ \x1b[m", "m⚠\x1b[m ", "m⚠ \x1b[m", "m✗\x1b[m ", "m✗ \x1b[m").Replace(want)
	if diff := cmp.Diff(want, out.String()); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestEndReplacesTheMessageOfAnError(t *testing.T) {
	var none *Findings
	damaged := app.Exit(app.ExitDamaged, app.Text("1 session is damaged."))
	if err := none.End("One.", damaged); err != damaged {
		t.Errorf("without a list: %v", err)
	}
	for _, tt := range []struct {
		err  error
		code int
		want string
	}{
		{nil, app.ExitDone, "✓ The last line.\n"}, {damaged, app.ExitDamaged, "✗ The last line.\n"},
		{syscall.EIO, app.ExitFailed, "✗ The last line.\n"},
	} {
		var out strings.Builder
		l := newList(t, &out, 80, ansi.NoColor)
		err := l.End("The last line.", tt.err)
		if code := l.app.Fail(err); code != tt.code || out.String() != tt.want {
			t.Errorf("%v: exit code %d, printed %q", tt.err, code, out.String())
		}
	}
}

func TestLastLineHasTheSignOfTheWorstFinding(t *testing.T) {
	fine, note, wrong := app.Fine("one"), app.Note("two", ""), app.Wrong("three", "")
	for _, tt := range []struct {
		findings []app.Finding
		want     string
	}{
		{nil, "✓ Done.\n"}, {[]app.Finding{fine}, "\n✓ Done.\n"}, {[]app.Finding{note, fine}, "\n⚠ Done.\n"},
		{[]app.Finding{fine, wrong, note, fine}, "\n✗ Done.\n"}, {[]app.Finding{note, wrong}, "\n✗ Done.\n"},
	} {
		var out strings.Builder
		l := newList(t, &out, 80, ansi.NoColor)
		for _, f := range tt.findings {
			if err := l.Add(f); err != nil {
				t.Fatal(err)
			}
		}
		out.Reset()
		if err := l.End("Done.", nil); err != nil || out.String() != tt.want {
			t.Errorf("%v: %v, %q", tt.findings, err, out.String())
		}
	}
}

func TestMessagesAreFindings(t *testing.T) {
	var out strings.Builder
	l := newList(t, &out, 80, ansi.NoColor)
	l.app.Notice("⚠️  Sessions are not listed.\n   Wait.", app.To("diagnose this", "doctor"))
	l.app.Fail(app.Exit(app.ExitNotFound, app.Text("There is none. Searched:\n  /a\n  /b")))
	l.AddError(errors.New("there is another"))
	l.app.Notice("")
	want := "⚠ Sessions are not listed.\n  Wait.\n  To diagnose this:\n    agent-chatter doctor\n" +
		"✗ There is none. Searched:\n    /a\n    /b\n✗ There is another\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestListReturnsErrorsOfItsOutput(t *testing.T) {
	l := newList(t, full{}, 80, ansi.NoColor)
	for name, err := range map[string]error{
		"Begin": l.Begin("ada"), "Add": l.Add(app.Fine("one")), "End": l.End("Done.", nil),
	} {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestListOnAPipe(t *testing.T) {
	var out bytes.Buffer
	a, err := app.New(app.IO{Stdout: &out, Stderr: &out}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if l := FindingsOnTerminal(a, "text"); l != nil || a.Present != nil {
		t.Error("a pipe has a list")
	}
}
