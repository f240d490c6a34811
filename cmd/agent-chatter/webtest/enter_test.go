package webtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestSecretAnswer answers a question with a secret. It is sent as it was typed, it is not shown, and the page keeps it
// nowhere.
func TestSecretAnswer(t *testing.T) {
	const secret = " correct horse "
	s, b, _ := chatPage(t)
	q := object{}
	for name, v := range asks {
		q[name] = v
	}
	q["questions"] = []object{
		{"text": "Which key may I use?", "header": "Key", "several": false, "free": false, "optional": false, "secret": true,
			"options": []object{}},
		{"text": "For which host?", "header": "Host", "several": false, "free": true, "optional": true, "options": []object{}},
	}
	s.tell(firstKey, state(object{"waiting": []string{}, "questions": []object{q}, "speaking": []object{speaking("t3", bo, "fg2", "")}}))
	b.wait(`document.querySelector(".answers.armed")`)
	if got := value[string](b, `[...document.querySelectorAll(".answer-field")].map(e => e.type + " " + e.autocomplete).join()`); got != "password off,text off" {
		t.Errorf("the fields are %s", got)
	}
	b.run(chromedp.Focus(".answer-field[type=password]"))
	b.press(secret)
	b.picture("secret")
	const kept = `JSON.stringify([sessionStorage, localStorage, history.state, location.href, document.documentElement.outerHTML])`
	if got := value[string](b, kept); strings.Contains(got, strings.TrimSpace(secret)) {
		t.Error("while it is typed, the page keeps the secret")
	}
	b.wait(`document.querySelector(".answers.armed")`)
	b.run(chromedp.Click(".answers .allow"))
	if got, want := fmt.Sprintf("%q", s.posted("answer")["answers"]), fmt.Sprintf("%q", []any{[]any{secret}, []any{}}); got != want {
		t.Errorf("the answers are %s, want %s", got, want)
	}
	s.tell(firstKey, state(nil))
	b.wait(`!document.querySelector(".question")`)
	if got := value[string](b, kept); strings.Contains(got, strings.TrimSpace(secret)) {
		t.Error("after that, the page keeps the secret")
	}
}

// TestDrop drops files from outside of the browser on the conversation: a picture is attached, anything else is not.
func TestDrop(t *testing.T) {
	s, b, _ := chatPage(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"shop.png": "picture", "note.txt": "text"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	drag := func(kind input.DispatchDragEventType, paths ...string) {
		t.Helper()
		b.run(call(input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: 300, Y: 300, Data: &input.DragData{
			Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1,
		}}))
	}
	drop := func(paths ...string) {
		t.Helper()
		drag(input.DispatchDragEventTypeDragEnter, paths...)
		drag(input.DispatchDragEventTypeDragOver, paths...)
		b.wait(`document.querySelector(".dropping .composer-row")`)
		drag(input.DispatchDragEventTypeDrop, paths...)
		b.wait(`!document.querySelector(".dropping")`)
	}
	drop(filepath.Join(dir, "shop.png"))
	b.wait(`document.querySelector(".attachments li")?.innerText.includes("shop.png") && document.activeElement.matches(".message-field")`)
	b.picture("dropped")
	drop(filepath.Join(dir, "note.txt"))
	b.wait(`document.querySelector("#status").innerText.includes("note.txt is not attached: it is no picture")`)
	drop(dir)
	b.wait(`document.querySelector("#status").innerText.includes(" is not attached: ") && !document.querySelector("#status").innerText.includes("note.txt")`)
	if got := value[string](b, "location.pathname"); got != sessionPath {
		t.Errorf("the browser opens what is dropped: %s", got)
	}
	b.press("Like this" + kb.Enter)
	if got, want := fmt.Sprint(s.posted("say")["files"]), "[map[data:cGljdHVyZQ== name:shop.png]]"; got != want {
		t.Errorf("the files are %s, want %s", got, want)
	}
}

// tabTo presses Tab until an element has the focus, which is visible.
func (b *tab) tabTo(selector string) {
	b.Helper()
	const most = 80
	for range most {
		b.press(kb.Tab)
		if !value[bool](b, `document.activeElement.matches("`+selector+`")`) {
			continue
		}
		if !value[bool](b, `document.activeElement.checkVisibility() && (document.activeElement.matches("textarea") ||
			getComputedStyle(document.activeElement).outlineStyle != "none")`) {
			b.Errorf("the focus of %s is not visible", selector)
		}
		return
	}
	b.Fatalf("%s gets no focus after %d Tab keys", selector, most)
}

// TestKeyboardOnly begins a conversation, answers a request for permission and a question, stops a turn, takes a message
// back, and returns to the list, with the keyboard alone.
func TestKeyboardOnly(t *testing.T) {
	s, b, _ := chatPage(t)
	b.press(kb.Escape)
	b.listed(2)
	b.wait(`document.querySelector("button.begin").checkVisibility()`)
	b.tabTo("button.begin")
	b.press(kb.Enter)
	b.wait(`document.querySelector("dialog[open] textarea") && document.activeElement.closest("dialog")`)
	b.wait(`document.activeElement.matches("textarea")`) // there is one team to choose
	b.press("Shall we?" + kb.Enter)
	if got := s.posted("conversations"); got["text"] != "Shall we?" || got["team"] != "review" {
		t.Errorf("the page began %v", got)
	}
	b.wait(`location.pathname == "` + sessionPath + `" && document.querySelector(".composer")`)

	working := []object{speaking("t3", ada, "fg5", "")}
	s.tell(firstKey, state(object{"waiting": []string{}, "questions": []object{permission}, "speaking": working}))
	b.wait(`document.querySelector(".answers.armed")`)
	b.tabTo(".asked-text")
	b.tabTo(".answers .allow")
	b.press(kb.Enter)
	if got := s.posted("answer"); got["decision"] != "allow" {
		t.Errorf("the answer: %v", got)
	}

	s.tell(firstKey, state(object{"waiting": []string{}, "questions": []object{asks}, "speaking": working}))
	b.wait(`document.querySelector(".answers.armed") && document.querySelector(".form")`)
	b.tabTo(".form input[type=radio]")
	b.press(" " + kb.ArrowDown)
	b.wait(`document.querySelectorAll(".form input[type=radio]")[1].checked`)
	b.tabTo(".form input[type=checkbox]")
	b.press(" ")
	b.wait(`document.querySelector(".answers.armed")`)
	b.tabTo(".answers .allow")
	b.press(kb.Enter)
	if got, want := fmt.Sprint(s.posted("answer")["answers"]), "[[Half to even] [unit]]"; got != want {
		t.Errorf("the answers are %s, want %s", got, want)
	}

	s.tell(firstKey, state(object{"waiting": []string{}, "speaking": working,
		"queue": []object{{"id": "page/1", "text": "later", "from": "page"}}}))
	b.wait(`!document.querySelector(".question") && document.querySelector(".queue-of-chat li button")`)
	b.tabTo(".stop")
	b.press(kb.Enter)
	s.posted("cancel")
	b.tabTo(".queue-of-chat button")
	b.press(kb.Enter)
	if got := s.posted("takeback"); got["id"] != "page/1" {
		t.Errorf("taken back: %v", got)
	}
	b.wait(`document.activeElement.matches(".message-field") && document.activeElement.value == "taken back"`)
	b.press(kb.Escape + kb.Escape)
	b.listed(2)
}
