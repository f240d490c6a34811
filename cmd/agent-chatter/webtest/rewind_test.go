package webtest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestRewind goes back to before a message. What would happen to the files is shown, and what is confirmed is what was
// shown.
func TestRewind(t *testing.T) {
	s, b, _ := chatPage(t)
	plan := object{"before": 7, "text": "Shall we\u202e begin?", "plan": "In /home/eva/shop:\nreplace  cart\u202e.go", "files": true}
	s.answer("rewind", 200, plan)
	b.press("gb")
	seq := s.posted("rewind")["seq"]
	b.wait(`document.querySelector("dialog.rewind input:checked")?.value == "both"`)
	if value[bool](b, `/\u202e/.test(document.querySelector("dialog.rewind").textContent)`) {
		t.Error("what is shown has characters that change the direction of the text")
	}
	plan["plan"] = "In /home/eva/shop:\nreplace  all.go"
	s.answer("rewind", 200, plan)
	b.press(kb.Enter)
	if again := s.posted("rewind"); again["seq"] != seq || len(again) != 1 {
		t.Errorf("the second plan: %v, the first one is of event %v", again, seq)
	}
	b.wait(`document.querySelector("dialog.rewind .problem")?.innerText.includes("have changed")`)
	b.wait(`document.querySelector("dialog.rewind .restored").innerText.includes("all.go")`)
	b.press(kb.Enter)
	s.posted("rewind")
	s.posted("continue")
	if said := s.posted("say"); said["text"] != "/rewind both 7" {
		t.Errorf("the page said %v", said)
	}
	b.wait(`!document.querySelector("dialog")`)
	moved := "review/" + strings.Repeat("0", 26)
	s.tell(firstKey, state(object{"session": moved}))
	b.wait(`location.pathname == "/s/` + moved + `"`)
	if got := value[string](b, `sessionStorage.getItem("agent-chatter-draft-`+moved+`")`); got != plan["text"] {
		t.Errorf("the message to edit is %q", got)
	}
	b.forgive("404") // there is no such session
}

// TestRewindOfTheConversation goes back where files cannot be set back. A device that may only answer cannot go back.
func TestRewindOfTheConversation(t *testing.T) {
	s, b, _ := chatPage(t)
	s.answer("rewind", 200, object{"before": 7, "text": "Shall we begin?", "plan": "No files were recorded.", "files": false})
	b.press("m/rewind" + kb.Enter)
	s.posted("rewind")
	b.wait(`document.querySelectorAll("dialog.rewind input:disabled").length == 2`)
	b.picture("rewind-conversation")
	b.run(chromedp.Click("dialog.rewind .primary"))
	s.posted("continue")
	if said := s.posted("say"); said["text"] != "/rewind conversation 7" {
		t.Errorf("the page said %v", said)
	}
	b.wait(`!document.querySelector("dialog")`)
	s.answer("rewind", 400, object{"error": "Event 8 is no message of a person."})
	b.press(kb.Escape + "b")
	s.posted("rewind")
	b.wait(`document.querySelector("dialog.rewind").innerText.includes("no message of a person") && document.querySelector("dialog.rewind .primary").disabled`)
	b.press(kb.Escape)
	b.wait(`!document.querySelector("dialog")`)
	s.tell(firstKey, state(object{"role": "answer", "waiting": []string{}, "next": []string{"Bo"}}))
	b.wait(`document.querySelector(".next").textContent == "Next: Bo"`)
	b.press("gb")
	b.run(chromedp.Click(".item.human .more-of"))
	b.wait(`document.querySelectorAll(".menu button").length == 2`)
	if value[bool](b, `Boolean(document.querySelector("dialog"))`) {
		t.Error("a device that may only answer can go back")
	}
	b.forgive("400") // of the event that is no message
}
