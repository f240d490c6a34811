//go:build unix

package webtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat/chattest"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// agentName is the name by which teams start this test binary as an agent.
const agentName = "acp-agent"

func TestMain(m *testing.M) {
	agenttest.Play()
	if filepath.Base(os.Args[0]) == agentName {
		agenttest.PlayACP()
	}
	os.Exit(m.Run())
}

// TestWholeConversation has a conversation on the page, on a desk and on a phone, with clicks and keys. Its journal is
// that of the same conversation on a terminal, but for ids, times, and devices.
func TestWholeConversation(t *testing.T) {
	newTab(t) // skips the test without a browser
	bin := t.TempDir()
	self, err := os.Executable()
	if err := errors.Join(err, os.Symlink(self, filepath.Join(bin, agentName))); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	source := axe(t)
	teamFile := filepath.Join("..", "..", "..", "testdata", "teams", "asking.json")
	typed := chattest.NewPlace(t, teamFile)
	typed.Type(t, program(t))
	want := typed.Journals(t)
	for _, screen := range screens {
		if screen.name == "tablet" {
			continue
		}
		t.Run(screen.name, func(t *testing.T) {
			place := chattest.NewPlace(t, teamFile)
			s := serve(t, place.Home, "--chat", "--allow", place.Dir)
			b := newTab(t)
			b.run(chromedp.EmulateViewport(int64(screen.width), int64(screen.height)),
				call(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: screen.touch}),
				chromedp.Navigate(s.Address))
			(&whole{tab: b, t: t, place: place, source: source, screen: screen.name, thumb: screen.touch}).have()
			if diff := cmp.Diff(want, place.Journals(t)); diff != "" {
				t.Errorf("the journals differ (-terminal +page):\n%s", diff)
			}
		})
	}
}

// A whole conversation on the page.
type whole struct {
	*tab
	t      *testing.T
	place  *chattest.Place
	source string // of axe
	screen string
	thumb  bool           // there is no keyboard, but for text
	said   map[string]int // how often, by the text
	step   int
}

// see checks what is on the screen.
func (w *whole) see(name string) {
	w.Helper()
	name = w.named(name)
	w.picture(name)
	w.fits(name, w.thumb)
}

// check is see with axe.
func (w *whole) check(name string) {
	w.Helper()
	w.shown(w.source, w.named(name), w.thumb)
}

// named returns the name of the next step.
func (w *whole) named(name string) string {
	w.step++
	return fmt.Sprintf("whole-%02d-%s-%s", w.step, name, w.screen)
}

// enter writes a message, or a command, and sends it.
func (w *whole) enter(text string) {
	w.Helper()
	if w.thumb {
		w.run(chromedp.Click(".message-field"))
		w.press(text)
		w.run(chromedp.Click(".composer .send"))
		return
	}
	w.press("m" + text + kb.Enter + kb.Escape)
}

// shownAs returns a message as it is shown: without markers.
func shownAs(text string) string {
	text, _, _ = strings.Cut(text, " [NEXT")
	return text
}

// turn waits until the turns that answer a message have ended.
func (w *whole) turn(text string) {
	w.Helper()
	if w.said == nil {
		w.said = map[string]int{}
	}
	w.said[text]++
	w.wait(fmt.Sprintf(`(() => {
		const said = [...document.querySelectorAll(".items .human")].filter(item => item.innerText.includes(%q));
		return said.length >= %d && said.at(-1).nextElementSibling?.matches(".turn") && !document.querySelector(".items .open") &&
			document.querySelector(".speakers").hidden && document.querySelector(".next").textContent == "Your turn";
	})()`, shownAs(text), w.said[text]))
}

func (w *whole) say(text string) {
	w.Helper()
	w.enter(text)
	w.turn(text)
}

// have has the conversation of chattest.
func (w *whole) have() {
	w.begin()
	w.ask()
	w.attach()
	w.say(chattest.Panel)
	w.see("panel")
	w.cancel()
	w.say(chattest.Made)
	w.expectFile(chattest.MadeFile, true)
	w.rewind(chattest.Made, "files")
	w.wait(`document.querySelector(".items").lastElementChild.innerText.includes("set back")`)
	w.expectFile(chattest.MadeFile, false)
	w.see("files-are-back")
	w.enter(chattest.Retitle)
	w.wait(`document.querySelector("#title").innerText == "Another title"`)
	w.moves(func() { w.enter("/fork") })
	w.say(chattest.InFork)
	w.see("fork")
	w.say(chattest.Undone)
	w.expectFile(chattest.UndoneFile, true)
	w.moves(func() { w.rewind(chattest.Undone, "both") })
	w.wait(`document.querySelector(".message-field").value == "` + chattest.Returned + `"`)
	w.expectFile(chattest.UndoneFile, false)
	w.check("rewound")
	w.run(chromedp.Click(".message-field"))
	w.do(`document.querySelector(".message-field").select()`)
	w.press(chattest.Instead)
	w.run(chromedp.Click(".composer .send"))
	w.turn(chattest.Instead)
	w.terminal()
	w.say(chattest.Last)
	w.see("end")
	if w.thumb && value[bool](w.tab, `Boolean(document.querySelector(".news:not([hidden])"))`) {
		w.Error("the end is not visible, though the page was not scrolled")
	}
	w.enter("/end")
	w.wait(`document.querySelector(".continue")`)
	if value[bool](w.tab, `document.querySelector(".notices-of-chat").innerText.includes("not sent")`) {
		w.Error("the page reports a message as lost that was sent")
	}
	w.see("ended")
}

// begin begins the conversation.
func (w *whole) begin() {
	w.wait(`document.querySelector("button.begin").checkVisibility()`)
	w.see("list")
	w.run(chromedp.Click("button.begin"))
	w.wait(`document.querySelector("dialog[open] select[name=team] option[value=asking]")`)
	w.run(chromedp.SetValue("dialog select[name=team]", "asking"), chromedp.Click("dialog textarea"))
	w.press(chattest.First)
	w.see("begin")
	w.run(chromedp.Click("dialog .primary"))
	w.wait(`location.pathname.startsWith("/s/asking/")`)
	w.turn(chattest.First)
	w.see("first")
	w.say(chattest.Tool)
	w.wait(`document.querySelector(".items .tool")`)
	w.see("tool")
}

// ask allows a tool, and refuses it.
func (w *whole) ask() {
	for _, answer := range []string{"allow", "refuse"} {
		w.enter(chattest.Asked)
		w.wait(`document.querySelector(".answers.armed")`)
		w.see(answer)
		w.run(chromedp.Click(".answers ." + answer))
		w.turn(chattest.Asked)
	}
}

// attach names a file, with the menu of files, and attaches a picture.
func (w *whole) attach() {
	w.run(chromedp.Click(".message-field"))
	name, _, _ := strings.Cut(chattest.WithNote, chattest.Note)
	w.press(name + chattest.Note[:3])
	w.wait(`document.querySelector(".completion")?.innerText.includes("` + chattest.Note + `")`)
	w.see("completion")
	w.run(chromedp.Click(".completion li"))
	w.wait(`document.querySelector(".message-field").value.trim() == "` + chattest.WithNote + `"`)
	w.run(chromedp.Click(".composer .send"))
	w.turn(chattest.WithNote)
	w.run(chromedp.SetUploadFiles(".composer input[type=file]", []string{w.place.PicturePath()}))
	w.wait(`document.querySelector(".attachments li")`)
	w.press(chattest.OfPicture)
	w.see("picture")
	w.run(chromedp.Click(".composer .send"))
	w.turn(chattest.OfPicture)
	w.see("look")
}

// cancel takes a queued message back, and stops the turn.
func (w *whole) cancel() {
	w.enter(chattest.Endless)
	w.wait(`document.querySelector(".items").innerText.includes("Let me see.")`)
	w.enter(chattest.Queued)
	w.wait(`document.querySelector(".queue-of-chat")?.innerText.includes("` + chattest.Queued + `")`)
	w.see("queue")
	if w.thumb {
		w.run(chromedp.Click(".queue-of-chat .plain"))
	} else {
		w.press("m" + kb.ArrowUp)
	}
	w.wait(`document.querySelector(".message-field").value == "` + chattest.Queued + `" && document.querySelector(".queue-of-chat").hidden`)
	w.see("taken-back")
	w.do(`document.querySelector(".message-field").select()`)
	w.press(kb.Backspace)
	if w.thumb {
		w.run(chromedp.Click(".speakers .stop"))
	} else {
		w.press(kb.Escape + "x")
	}
	w.turn(chattest.Endless)
	w.see("cancelled")
}

// rewind goes back to before the message with a text.
func (w *whole) rewind(text, what string) {
	w.Helper()
	w.do(fmt.Sprintf(`[...document.querySelectorAll(".items .human")].findLast(item => item.innerText.includes(%q)).dataset.here = "yes"`,
		shownAs(text)))
	if w.thumb {
		w.run(chromedp.Click("[data-here] .more-of"))
		w.wait(`document.querySelector(".menu")?.matches(":popover-open")`)
		w.check("menu")
		w.run(chromedp.Click(".menu button:last-child"))
	} else {
		w.run(chromedp.Click("[data-here] time"))
		w.press("b")
	}
	w.wait(`document.querySelector("dialog.rewind input:checked")`)
	if w.screen == "desk" && what == "files" { // the keys of the form
		w.press(kb.ArrowDown + kb.ArrowDown)
	} else {
		w.run(chromedp.Click(`dialog.rewind .part:has([value="` + what + `"])`))
	}
	w.wait(`document.querySelector("dialog.rewind input:checked").value == "` + what + `"`)
	w.check("rewind-" + what)
	w.run(chromedp.Click("dialog.rewind .primary"))
	w.wait(`!document.querySelector("dialog")`)
}

// moves does something after which the conversation continues in a copy.
func (w *whole) moves(do func()) {
	w.Helper()
	path := value[string](w.tab, `location.pathname`)
	do()
	w.wait(`location.pathname != "` + path + `" && document.querySelector(".composer") && document.querySelector(".next")?.textContent == "Your turn"`)
}

// terminal takes part on a terminal.
func (w *whole) terminal() {
	id := value[string](w.tab, `location.pathname.split("/").at(-1)`)
	m := chattest.Start(w.t, w.place.Command(program(w.t), "chat", "--resume", id))
	m.Expect("Attached to session")
	m.Expect("Hugo> ")
	m.Line(chattest.Elsewhere)
	m.Expect("on a terminal")
	m.Expect("Hugo> ")
	m.End()
	w.turn(chattest.Elsewhere)
	w.see("from-a-terminal")
}

func (w *whole) expectFile(name string, want bool) {
	w.Helper()
	if w.place.Has(name) != want {
		w.Fatalf("%s exists: %t, want %t", name, !want, want)
	}
}
