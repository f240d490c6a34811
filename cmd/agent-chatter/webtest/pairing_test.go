package webtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestPairing opens the address with a code, as a phone does. The page then works without a token, in another tab and
// after a reload, until the device is revoked.
func TestPairing(t *testing.T) {
	home := reviewHome(t)
	s := serve(t, home, "--pair", "--role", "read")
	b := open(t, s.Pair)
	b.listed(2)
	if value[string](b, "location.href") != s.Origin+"/" || value[string](b, "document.cookie") != "" ||
		value[string](b, `JSON.stringify(sessionStorage) + JSON.stringify(localStorage)`) != `{}{"agent-chatter-paired":"yes"}` {
		t.Errorf("the page has %s, %s", value[string](b, "location.href"),
			value[string](b, "document.cookie + JSON.stringify(sessionStorage) + JSON.stringify(localStorage)"))
	}
	other := open(t, s.Origin+sessionPath)
	other.wait(`document.querySelectorAll("article.item").length == 5`)
	b.run(chromedp.Reload())
	b.listed(2)

	list := run(t, home, "devices")
	if !strings.Contains(list, "read") || !strings.Contains(list, "Chrome on Linux") {
		t.Errorf("devices prints %s", list)
	}
	run(t, home, "devices", "revoke", strings.Fields(list)[0])
	b.do(`fetch("/api/sessions").then(answer => window.answered = answer.status)`)
	b.wait(`window.answered == 401`)
	for _, tab := range []*tab{b, other} { // the browser logs what is refused
		tab.mu.Lock()
		tab.problems = nil
		tab.mu.Unlock()
	}
}

// TestOtherPagesAreRefused opens a page of another port, which sends what it can to the server with the cookie of the
// browser. Nothing changes, and it reads nothing.
func TestOtherPagesAreRefused(t *testing.T) {
	home := reviewHome(t)
	s := serve(t, home, "--pair", "--role", "all")
	b := open(t, s.Pair)
	b.listed(2)
	before := run(t, home, "sessions", "list", "--json")
	attack := `<!DOCTYPE html><title>other</title><iframe name=sink></iframe>
<form id=f method=post action=ORIGIN/api/sessions/SESSION/trash target=sink enctype=text/plain>
<input name='{"x":"' value='"}'></form>
<iframe id=inside src=ORIGIN/></iframe><script>
const seen = [];
const at = "ORIGIN/api/sessions";
const tried = [];
for (const credentials of ["include", "omit"]) {
  for (const mode of ["cors", "no-cors"]) {
    tried.push(fetch(at, { credentials, mode }).then(async a => seen.push(await a.text())).catch(() => {}));
    tried.push(fetch(at + "/SESSION/trash", { method: "POST", body: "{}", credentials, mode }).catch(() => {}));
    tried.push(fetch(at + "/SESSION/trash", { method: "POST", body: "{}", credentials, mode: "cors",
      headers: { "Agent-Chatter": "1", "Content-Type": "application/json" } }).catch(() => {}));
  }
}
tried.push(new Promise(resolve => {
  const events = new EventSource("ORIGIN/api/stream?list=1", { withCredentials: true });
  events.onmessage = event => seen.push(event.data);
  events.onerror = () => { events.close(); resolve(); };
}));
tried.push(new Promise(resolve => {
  const socket = new WebSocket("ORIGIN/api/stream".replace("http", "ws"));
  socket.onopen = () => seen.push("open");
  socket.onclose = resolve;
}));
tried.push(new Promise(resolve => {
  const image = new Image();
  image.onload = image.onerror = resolve;
  image.src = "ORIGIN/api/sessions/SESSION/export?format=json";
}));
navigator.sendBeacon("ORIGIN/api/sessions/SESSION/trash", "{}");
tried.push(new Promise(resolve => { document.querySelector("[name=sink]").onload = resolve; f.submit(); }));
Promise.all(tried).then(() => window.done = true);
</script>`
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, strings.NewReplacer("ORIGIN", s.Origin, "SESSION", "review/"+first).Replace(attack))
	}))
	t.Cleanup(page.Close)
	other := open(t, page.URL)
	other.wait(`window.done`)
	if got := value[string](other, "seen.join()"); strings.Trim(got, ",") != "" {
		t.Errorf("the other page reads %.200q", got)
	}
	if value[bool](other, `(() => { try { return inside.contentDocument.body.innerText != "" } catch { return false } })()`) {
		t.Error("the other page reads a frame")
	}
	if after := run(t, home, "sessions", "list", "--json"); after != before {
		t.Errorf("the sessions were\n%s\nand are\n%s", before, after)
	}
	b.run(chromedp.Reload())
	b.listed(2) // the page itself is admitted
	other.mu.Lock()
	other.problems = nil
	other.mu.Unlock()
}

// TestDevices pairs a device from the page, with the address that its picture has, and revokes it there.
func TestDevices(t *testing.T) {
	source := axe(t)
	home := reviewHome(t)
	program(t) // is built in this directory
	t.Chdir(t.TempDir())
	s := serve(t, home, "--chat")
	b := open(t, s.Address)
	b.listed(2)
	b.wait(`document.querySelector(".devices-button").checkVisibility()`)
	b.press("P")
	b.wait(`document.querySelector("dialog.devices .device-list").innerText == "No device is paired."`)
	b.press(kb.Enter) // the button has the focus
	b.wait(`document.querySelector(".pairing svg path") && document.querySelector(".left").innerText.startsWith("Good for ")`)
	for _, screen := range screens {
		b.run(chromedp.EmulateViewport(int64(screen.width), int64(screen.height)),
			call(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: screen.touch}))
		b.shown(source, "devices-"+screen.name, screen.touch)
	}
	address := value[string](b, `document.querySelector(".pairing .address code").innerText`)
	separate, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	phone := &tab{TB: t, ctx: separate}
	phone.run(chromedp.Navigate(address))
	phone.listed(2)
	b.wait(`document.querySelector(".pairing").innerText.startsWith("Paired Chrome on Linux") && document.querySelectorAll(".device-list button").length == 1`)
	b.picture("devices-paired")
	if got := value[string](b, `document.querySelector(".device-list small").innerText`); !strings.HasPrefix(got, "answer · used on ") {
		t.Errorf("the device: %s", got)
	}
	if value[bool](phone, `document.querySelector(".devices-button").checkVisibility()`) {
		t.Error("a device with the role answer is offered the devices")
	}
	b.run(chromedp.Click(".device-list button"))
	b.wait(`document.querySelector(".device-list button.sure")`)
	b.run(chromedp.Click(".device-list button.sure"))
	b.wait(`document.querySelector(".device-list").innerText == "No device is paired."`)
	phone.do(`fetch("/api/sessions").then(answer => window.answered = answer.status)`)
	phone.wait(`window.answered == 401`)
	b.press(kb.Escape)
	b.wait(`!document.querySelector("dialog")`)
}
