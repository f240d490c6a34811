package webtest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestHostedConversation begins a conversation with the demo team on the page, stops it, takes a queued message back,
// enters a command, and forks it.
func TestHostedConversation(t *testing.T) {
	home := t.TempDir()
	program(t) // is built in this directory
	t.Chdir(t.TempDir())
	s := serve(t, home, "--chat")
	b := open(t, s.Address)
	b.wait(`document.querySelector("button.begin").checkVisibility()`)
	b.press("c")
	b.wait(`document.querySelector("dialog[open] select[name=team] option[value=demo]")`)
	b.do(`const team = document.querySelector("dialog select[name=team]"); team.value = "demo"; team.dispatchEvent(new Event("change"))`)
	if got := value[int](b, `document.querySelectorAll("dialog .members li[class^=fg]").length`); got < 2 {
		t.Errorf("%d members of the team are named", got)
	}
	b.picture("hosted-begin")
	b.run(chromedp.Focus("dialog textarea"))
	b.press("Shall we begin?" + kb.Enter)
	b.wait(`location.pathname.startsWith("/s/demo/") && document.querySelector(".items").innerText.includes("Shall we begin?")`)
	b.wait(`document.querySelector(".speakers .stop")`)
	b.wait(`document.querySelector(".tail")?.textContent.length > 10`)
	b.picture("hosted-streaming")

	b.press("m")
	b.press("What is missing?" + kb.Enter)
	b.wait(`document.querySelector(".queue-of-chat")?.innerText.includes("What is missing?")`)
	b.press(kb.ArrowUp)
	b.wait(`document.querySelector(".message-field").value == "What is missing?" && document.querySelector(".queue-of-chat").hidden`)
	b.press(kb.Escape + "x")
	b.wait(`document.querySelector(".speakers").hidden && document.querySelector(".next").textContent != ""`)
	b.wait(`document.querySelectorAll(".tail").length == 0`)

	b.do(`document.querySelector(".message-field").value = ""`)
	b.press("m/members" + kb.Enter)
	b.wait(`document.querySelector(".notice-of-chat .lines")`)
	b.picture("hosted-notice")
	b.press("/me")
	b.wait(`document.querySelector(".completion")?.innerText.includes("/members")`)
	b.press(kb.Escape)
	b.do(`document.querySelector(".message-field").value = ""`)
	b.press("And now?" + kb.Enter)
	b.wait(`document.querySelector(".items").innerText.includes("And now?")`)
	b.wait(`document.querySelector(".speakers").hidden`)

	path := value[string](b, `location.pathname`)
	b.press(kb.Escape + "gf")
	b.wait(`document.querySelector(".toast a")?.innerText == "Continue there"`)
	b.run(chromedp.Click(".toast a"))
	b.wait(`location.pathname != "` + path + `" && document.querySelector(".composer")`)
	b.press("m")
	b.press("Another way" + kb.Enter)
	b.wait(`document.querySelector(".items").innerText.includes("Another way")`)
	b.picture("hosted-fork")
}
