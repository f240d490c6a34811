package webtest

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/agent-chatter/agent-chatter/projection"
)

// screens are the screens on which the states of a conversation are shown: a desk, a tablet and a phone.
var screens = []struct {
	name          string
	width, height int
	touch         bool
}{{"desk", 1280, 800, false}, {"tablet", 768, 1024, true}, {"phone", 360, 740, true}}

// outside returns the elements that are not on the screen, but for those in what scrolls.
const outside = `[...document.querySelectorAll("body *")].filter(e => {
	const box = e.getBoundingClientRect();
	return box.width > 1 && box.height > 1 && e.checkVisibility({ visibilityProperty: true }) &&
		!e.closest("pre, .wide, code, .visually-hidden, svg") && (box.right > innerWidth + 1 || box.left < -1);
}).map(e => e.outerHTML.slice(0, 200))`

// small returns the buttons and links outside of messages that a thumb may miss.
const small = `[...document.querySelectorAll("button, select, .composer textarea")].filter(e => {
	const box = e.getBoundingClientRect();
	return e.checkVisibility() && !e.closest(".items, .command, .row-about, .bar") && box.height < 43.5;
}).map(e => e.outerHTML.slice(0, 120) + " " + e.getBoundingClientRect().height)`

// chatStates are what a person sees of a conversation that answers.
var chatStates = []struct {
	name  string
	path  string
	set   func(s *scripted, b *tab)
	ready string
}{
	{"list", "/", nil, `document.querySelector(".row .live-badge.need")`},
	{"begin", "/", func(_ *scripted, b *tab) {
		b.wait(`document.querySelector("button.begin").checkVisibility()`)
		b.run(chromedp.Click("button.begin"))
	}, `document.querySelector("dialog[open] textarea")`},
	{"reading", sessionPath, nil, `document.querySelector(".composer")`},
	{"streaming", sessionPath, func(s *scripted, _ *tab) {
		s.tell(firstKey, state(object{"waiting": []string{}, "next": []string{"Bo"}, "speaking": []object{speaking("t3", ada, "fg5", "")}}))
		s.tell(firstKey, object{"text": []object{{"turn": "t3", "at": 0, "text": streamed}}})
	}, `document.querySelector(".speakers time")`},
	{"panel-of-two", sessionPath, func(s *scripted, _ *tab) {
		s.tell(firstKey, state(object{"waiting": []string{}, "speaking": []object{
			speaking("t3", ada, "fg5", ""), speaking("t4", bo, "fg2", "")}}))
		s.tell(firstKey, object{"text": []object{{"turn": "t3", "at": 0, "text": streamed}, {"turn": "t4", "at": 0, "text": streamed}}})
	}, `document.querySelectorAll(".speakers .stop").length == 3`},
	{"permission", sessionPath, func(s *scripted, _ *tab) {
		s.tell(firstKey, state(object{"waiting": []string{}, "questions": []object{permission},
			"speaking": []object{speaking("t3", ada, "fg5", "")}}))
	}, `document.querySelector(".answers.armed")`},
	{"question", sessionPath, func(s *scripted, _ *tab) {
		s.tell(firstKey, state(object{"waiting": []string{}, "questions": []object{asks, permission},
			"speaking": []object{speaking("t3", bo, "fg2", "")}}))
	}, `document.querySelector(".answers.armed")`},
	{"queue", sessionPath, func(s *scripted, b *tab) {
		s.tell(firstKey, state(object{"waiting": []string{}, "speaking": []object{speaking("t3", ada, "fg5", "")},
			"queue": []object{{"id": "page/1", "text": "Then run the tests of the cart, please, and say how long they take", "from": "page"},
				{"id": "", "text": "And commit it", "from": ""}}}))
		b.run(chromedp.Focus(".message-field"))
		b.press("One more thing: the README")
	}, `document.querySelectorAll(".queue-of-chat li").length == 2`},
	{"notice", sessionPath, func(s *scripted, _ *tab) {
		s.tell(firstKey, state(nil))
		s.tell(firstKey, object{"notices": []object{{"text": "Ada   author    claude   24k of 200k tokens, 12%\nBo    reviewer  codex    its context is not reported"}}})
	}, `document.querySelector(".notice-of-chat")`},
	{"completion", sessionPath, func(s *scripted, b *tab) {
		s.get("complete", func() any {
			return object{"from": 0, "choices": []object{{"insert": "/model", "help": "change the model of a member"},
				{"insert": "/members", "help": "list the members"}, {"insert": "/me", "help": ""}}}
		})
		b.run(chromedp.Focus(".message-field"))
		b.press("/m")
	}, `document.querySelectorAll(".completion li").length == 3`},
	{"idle", sessionPath, func(s *scripted, _ *tab) {
		s.tell(firstKey, state(object{"hosted": false, "waiting": []string{}}))
	}, `document.querySelector(".continue")`},
	{"error", sessionPath, func(s *scripted, b *tab) {
		s.tell(firstKey, state(object{"unsaved": true}))
		s.answer("say", 500, object{"error": "The journal cannot be written: no space left on device.\nTo see what uses the disk, type: agent-chatter doctor"})
		b.run(chromedp.Focus(".message-field"))
		b.press("Please go on" + kb.Enter)
		s.posted("say")
	}, `document.querySelector(".toast.alert")`},
	{"read-only", sessionPath, func(s *scripted, b *tab) {
		s.set("chat", false)
		b.run(chromedp.Reload())
	}, `document.querySelector(".dock.read-only")`},
}

const streamed = "I look for where it divides.\n\nThere are two places: `calc.Div`, which callers use, and the share of the discount in " +
	"the cart. The first one can return an error; the second one never divides by zero, since an empty cart has no"

// TestChatStates shows each state on each screen: nothing is cut, a thumb can press all of it, and axe finds nothing.
func TestChatStates(t *testing.T) {
	source := axe(t)
	for _, screen := range screens {
		t.Run(screen.name, func(t *testing.T) {
			s, b, log := chatPage(t)
			add(t, log, projection.TurnStarted{TurnID: "t3", MemberID: "ada"}, projection.TurnStarted{TurnID: "t4", MemberID: "bo"})
			b.run(chromedp.EmulateViewport(int64(screen.width), int64(screen.height)),
				call(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: screen.touch}))
			for _, of := range chatStates {
				s.set("chat", true)
				s.tell(firstKey, state(nil))
				b.run(chromedp.Evaluate[chromedp.Void](`sessionStorage.clear()`), navigate(s.address(of.path, "")))
				if of.path == sessionPath {
					b.wait(`document.querySelector(".foot")?.children.length && document.querySelectorAll("article.item").length == 7`)
				} else {
					b.wait(`document.querySelectorAll(".rows .row-link").length == 2`)
				}
				if of.set != nil {
					of.set(s, b)
				}
				b.wait(of.ready)
				b.shown(source, of.name+"-"+screen.name, screen.touch)
				b.forgive("500")
			}
		})
	}
}

// shown checks a state on a screen.
func (b *tab) shown(source, name string, touch bool) {
	b.Helper()
	for i, scheme := range schemes {
		b.scheme(scheme)
		b.wait(`document.getAnimations().every(a => a.playState != "running" || a.effect.getComputedTiming().iterations == Infinity)`)
		b.picture(fmt.Sprintf("%s-%s", name, scheme))
		for _, violation := range violations(b, source, rulesOf(i)...) {
			b.Errorf("%s, %s: %s", name, scheme, violation)
		}
	}
	b.fits(name, touch)
}

// fits checks that nothing is outside of the screen, or too small.
func (b *tab) fits(name string, touch bool) {
	b.Helper()
	if got := value[[]string](b, outside); len(got) > 0 {
		b.Errorf("%s: outside of the screen: %q", name, got)
	}
	if !touch {
		return
	}
	if got := value[[]string](b, small); len(got) > 0 {
		b.Errorf("%s: too small for a thumb: %q", name, got)
	}
}
