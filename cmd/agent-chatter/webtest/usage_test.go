package webtest

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// TestUsage shows what the turns used, on each screen, and nothing of an empty home.
func TestUsage(t *testing.T) {
	source := axe(t)
	home := reviewHome(t)
	log := write(t, home, "01KAH9TQ4GJ5X8C2VRB0000003", message(you, "What does it cost?"))
	for n := range 24 {
		id, by, used := fmt.Sprintf("01KAH9TQ4GJ5X8C2VRB%07d", 100+n), []string{"ada", "bo"}[n%2], int64(n%5+1)
		model := []string{"claude-opus-4-5", "gpt-5.5"}[n%2]
		records := []journal.Record{
			projection.Record(began.AddDate(0, 0, n/2-9), projection.TurnStarted{TurnID: id, MemberID: by, AgentType: "claude", Model: model}),
			projection.Record(began.AddDate(0, 0, n/2-9), projection.TurnEnded{TurnID: id, MemberID: by, FinishReason: projection.Done,
				Usage: &projection.Usage{Input: used * 24_000, CachedRead: used * 90_000, Output: used * 1_900,
					Cost: &projection.Cost{Amount: float64(used) * 0.21, Currency: "USD"}}}),
		}
		if _, err := log.Append(records...); err != nil {
			t.Fatal(err)
		}
	}
	log.Close()
	s := serve(t, home)
	b := open(t, s.Address)
	b.listed(3)
	b.press("U")
	b.wait(`location.pathname == "/usage" && document.querySelector(".usage h2, .usage .notice")`)
	b.press("3")
	b.wait(`document.querySelectorAll(".usage tbody tr").length == 16 && location.search == "?since="`)
	const day = `[...document.querySelectorAll(".usage tbody tr")].map(e => e.innerText.trim().split("\t").join(" ")).find(e => e.startsWith("2026-11-11"))`
	if got := value[string](b, day); got != "2026-11-11 2 72,000 270,000 5,700 0.63 USD" {
		t.Errorf("the day: %q", got)
	}
	for _, screen := range screens {
		b.run(chromedp.EmulateViewport(int64(screen.width), int64(screen.height)),
			call(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: screen.touch}))
		b.shown(source, "usage-"+screen.name, screen.touch)
	}
	b.press(kb.Escape)
	b.listed(3)

	empty := open(t, serve(t, t.TempDir()).address("/usage", ""))
	empty.wait(`document.querySelector(".usage .notice")`)
	empty.picture("usage-empty")
	for _, violation := range violations(empty, source) {
		t.Errorf("an empty home: %s", violation)
	}
}

// TestMembersUsage shows what each member used beside a conversation that runs, and above it on a narrower page. It is
// current.
func TestMembersUsage(t *testing.T) {
	_, b, log := chatPage(t)
	b.run(chromedp.EmulateViewport(1280, 800))
	b.wait(`document.querySelectorAll(".beside .members li").length == 3`)
	for n, u := range []projection.Usage{{Input: 1000, Context: 24_400, Window: 200_000}, {Input: 2000, Context: 61_000, Window: 200_000}} {
		u.Cost = &projection.Cost{Amount: 0.42, Currency: "USD"}
		id := fmt.Sprintf("01KAH9TQ4GJ5X8C2VRB%07d", 100+n)
		add(t, log, projection.TurnStarted{TurnID: id, MemberID: "ada"}, message(ada, "I look."),
			projection.TurnEnded{TurnID: id, MemberID: "ada", FinishReason: projection.Done, Usage: &u})
	}
	b.wait(`document.querySelectorAll(".beside .member-figures")[1].innerText == "31% of 200k · 0.84 USD"`)
	b.wait(`document.querySelector(".figures-of-session").innerText == "3k tokens\n0.84 USD"`)
	b.picture("member-figures")
	b.run(chromedp.EmulateViewport(900, 800))
	b.wait(`document.querySelector(".session-head .members small").innerText == "31% of 200k · 0.84 USD"`)
	if got := value[string](b, `document.querySelector(".spent").innerText`); got != "3k tokens · 0.84 USD" {
		t.Errorf("the session: %q", got)
	}
	b.picture("member-figures-narrow")
}
