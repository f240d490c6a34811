package webtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/agent-chatter/agent-chatter/projection"
)

// edits is a team with an agent that changes files: code, a new file with a hostile name, a link and a binary file.
const edits = `{"schemaVersion": "1.1",
  "agents": [{"name": "edits", "command": "sh", "args": ["edit.sh"]}],
  "team": {"name": "edits", "description": "An agent that edits files", "members": [
    {"name": "eva", "displayName": "Eva", "role": "human", "type": "human", "baseDir": ".", "systemInstruction": ""},
    {"name": "ada", "displayName": "Ada", "role": "author", "type": "ai", "agentType": "edits", "engine": "command", "baseDir": ".", "systemInstruction": ""}]}}`

const editScript = `cat >/dev/null
sed -i 's/float64/int64/; s/total = 0.0/total = int64(0)/' cart.go
mkdir -p docs; printf '# Rounding\n' >docs/rounding.md
printf '<img src=x onerror=alert(1)>\n' >'<img src=x onerror=alert(2)>.html'
printf '\0\1' >logo.png; ln -s /etc/passwd link; rm old.go
echo done
`

// filesHome returns a home with a session whose turn changed files.
func filesHome(t *testing.T) (home, path string) {
	t.Helper()
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "shop")
	cart := "package cart\n\n// Total returns the price of all items.\nfunc Total(items []Item) float64 {\n\ttotal = 0.0\n" +
		"\tfor _, item := range items {\n\t\ttotal += item.Price\n\t}\n\treturn total\n}\n" +
		strings.Repeat("\n// It does nothing.\nfunc nothing() {}\n", 12) + "\nvar highest float64 = 1 // dollar\n"
	for name, content := range map[string]string{"edits.json": edits, "edit.sh": editScript, "cart.go": cart, "old.go": "package cart\n"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program(t) // is built in this directory
	t.Chdir(dir)
	run(t, home, "chat", "-t", "edits.json", "-m", "Count in cents")
	id := strings.TrimSuffix(filepath.Base(one(t, filepath.Join(home, "sessions", "edits", "*.jsonl"))), ".jsonl")
	return home, "/s/edits/" + id
}

// one returns the file that matches a pattern.
func one(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v", pattern, found, err)
	}
	return found[0]
}

// TestFiles reviews what a turn changed: with the keyboard, side by side and one below the other.
func TestFiles(t *testing.T) {
	home, path := filesHome(t)
	s := serve(t, home)
	b := open(t, s.address(path, ""))
	b.wait(`document.querySelector("article.item")`)
	b.press("v")
	b.wait(`document.querySelectorAll(".file-list button").length == 6`)
	paths := value[[]string](b, `[...document.querySelectorAll(".file-list button")].map(e => e.innerText.trim().split(/\s*\n\s*/).join(" "))`)
	if got := strings.Join(paths, "|"); got != `<img src=x onerror=alert(2)>.html new +1 −0|cart.go +3 −3|docs/rounding.md new +1 −0|link new|logo.png new|old.go deleted +0 −1` {
		t.Errorf("the files: %s", got)
	}
	shown := func(name string) {
		t.Helper()
		b.wait(`document.querySelector(".file-diff h2").innerText == ` + quoted(name))
	}
	shown("<img src=x onerror=alert(2)>.html")
	if got := value[string](b, `document.querySelector(".hunk .added code").innerText`); got != "<img src=x onerror=alert(1)>" {
		t.Errorf("the line is %q", got)
	}
	b.press("j")
	shown("cart.go")
	cells := func() int { return value[int](b, `document.querySelector(".hunk tr").cells.length`) }
	if got := cells(); got != 3 {
		t.Errorf("a narrow page has rows of %d cells", got)
	}
	command := value[string](b, `document.querySelector(".file-diff footer code").innerText`)
	if !strings.HasPrefix(command, "agent-chatter ") || !strings.Contains(command, " files restore ") || !strings.HasSuffix(command, " cart.go") {
		t.Errorf("the command is %q", command)
	}
	b.picture("files-narrow")
	b.run(chromedp.EmulateViewport(1400, 800))
	b.wait(`document.querySelector(".hunk tr").cells.length == 6`)
	b.picture("files")
	b.press("j")
	shown("docs/rounding.md")
	b.press("j")
	shown("link")
	if got := value[string](b, `document.querySelector(".file-diff .note").innerText`); got != "It became a symbolic link to /etc/passwd." {
		t.Errorf("the note is %q", got)
	}
	b.run(chromedp.Reload())
	shown("link")
	b.press(kb.Escape)
	b.wait(`document.querySelector("article.item")`)

	// Without the key of the home, the session counts as one from elsewhere.
	if err := os.Remove(filepath.Join(home, "id")); err != nil {
		t.Fatal(err)
	}
	other := serve(t, home)
	b = open(t, other.address(path+"/files", ""))
	b.wait(`document.querySelector(".files .notice").innerText.includes("were recorded in another home")`)
}

// quoted returns a text as JavaScript.
func quoted(text string) string { return "`" + text + "`" }

// TestFilesOfASessionWithout says why there is nothing.
func TestFilesOfASessionWithout(t *testing.T) {
	home := t.TempDir()
	write(t, home, first, message(you, "Hello."), projection.SessionRenamed{Title: "Nothing"}).Close()
	b := open(t, serve(t, home).address(sessionPath+"/files", ""))
	b.wait(`document.querySelector(".files .notice").innerText.includes("has no recorded changes of files")`)
}

// TestAccessibilityOfFiles checks the page with axe.
func TestAccessibilityOfFiles(t *testing.T) {
	source := axe(t)
	home, path := filesHome(t)
	b := open(t, serve(t, home).address(path+"/files", ""))
	b.run(chromedp.EmulateViewport(1400, 800))
	b.wait(`document.querySelectorAll(".file-list button").length == 6`)
	b.press("j")
	b.wait(`document.querySelectorAll(".hunk").length == 2`)
	b.accessible(source, "files")
}

// TestFilesBesideAConversation shows on a wide page what the turns changed, with the newest change.
func TestFilesBesideAConversation(t *testing.T) {
	source := axe(t)
	home, path := filesHome(t)
	b := newTab(t)
	b.run(chromedp.EmulateViewport(1280, 800), chromedp.Navigate(serve(t, home).address(path, "")))
	b.wait(`document.querySelectorAll(".changed-files button").length == 6 && document.querySelector(".beside .hunk")`)
	b.run(chromedp.Click(`.changed-files button[title="cart.go"]`))
	b.wait(`document.querySelector(".beside h3").innerText == "cart.go" && document.querySelectorAll(".beside .hunk").length == 2`)
	b.accessible(source, "beside")
}
