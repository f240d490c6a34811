package webtest

import (
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// devicePage opens the list as a paired device, whose browser keeps what it shows.
func devicePage(t *testing.T) (*scripted, *tab) {
	t.Helper()
	home := t.TempDir()
	write(t, home, first, review...)
	write(t, home, second, message(you, "Shall we begin?"), message(ada, "We shall.")).Close()
	s := script(t, serve(t, home))
	s.set("device", "Eva's phone")
	s.tell(firstKey, state(nil))
	b := open(t, s.address("/", ""))
	b.wait(`document.querySelectorAll(".rows .row-link").length == 2`)
	b.wait(`navigator.serviceWorker.controller`)
	return s, b
}

// TestOffline opens the page without its server: it shows what it has shown before, and says so.
func TestOffline(t *testing.T) {
	source := axe(t)
	s, b := devicePage(t)
	b.run(chromedp.EmulateViewport(360, 740),
		call(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true}))
	b.run(chromedp.Reload()) // through the service worker
	b.wait(`document.querySelectorAll(".rows .row-link").length == 2`)
	b.run(chromedp.Navigate(s.Origin + sessionPath))
	b.wait(`document.querySelectorAll("article.item").length == 5 && document.querySelector(".composer")`)

	s.leave(true)
	b.run(chromedp.Reload())
	b.wait(`document.querySelectorAll("article.item").length == 5`)
	b.wait(`document.querySelector(".offline")?.innerText.startsWith("Offline.")`)
	b.shown(source, "offline-phone", true)
	b.run(chromedp.Navigate(s.Origin + "/"))
	b.wait(`document.querySelectorAll(".rows .row-link").length == 2 && document.querySelector(".offline")`)

	s.leave(false)
	b.run(chromedp.Navigate(s.Origin + sessionPath))
	b.wait(`document.querySelector(".composer") && !document.querySelector(".offline")`)
	b.forgive("Failed to load resource")
}

// TestForgetWhatWasKept removes what was kept when the server does not admit the device any more.
func TestForgetWhatWasKept(t *testing.T) {
	s, b := devicePage(t)
	b.run(chromedp.Reload())
	b.wait(`document.querySelectorAll(".rows .row-link").length == 2`)
	const kept = `caches.has("seen-1").then(has => window.kept = has)`
	b.do(kept)
	b.wait(`window.kept == true`)
	s.revoke()
	b.do(`fetch("/api/host").then(() => ` + kept + `)`)
	b.wait(`window.kept == false`)
	b.forgive("401")
}

// TestNoWorkerByToken checks that a page that is opened with a token keeps nothing: its address is for the time of one
// server.
func TestNoWorkerByToken(t *testing.T) {
	_, b, _ := chatPage(t)
	b.do(`navigator.serviceWorker.getRegistrations().then(all => window.workers = all.length)`)
	b.wait(`window.workers === 0`)
}

// TestNotifications notifies of a question while the page is hidden, and of nothing else.
func TestNotifications(t *testing.T) {
	s, b, _ := chatPage(t)
	b.run(call(cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
		Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"}, Setting: cdpbrowser.PermissionSettingGranted}))
	b.do(`window.shown = [];
		ServiceWorkerRegistration.prototype.showNotification = function (title, options) { shown.push(title + " / " + options.body); };
		window.Notification = class extends Notification { constructor(title, options) { super(title, options); shown.push(title + " / " + options.body); } };`)
	b.run(chromedp.Click(".notify"))
	b.wait(`document.querySelector(".notify").ariaPressed == "true"`)
	s.tell(firstKey, state(object{"questions": []object{permission}, "speaking": []object{speaking("t3", ada, "fg5", "")}}))
	b.wait(`document.querySelector(".question")`)
	b.do(`Object.defineProperty(document, "hidden", { value: true })`)
	s.tell(firstKey, state(object{"speaking": []object{speaking("t3", ada, "fg5", "")}}))
	s.tell(firstKey, state(object{"questions": []object{asks}, "speaking": []object{speaking("t3", ada, "fg5", "")}}))
	s.tell(firstKey, state(nil))
	b.wait(`shown.length == 2`)
	if got := value[[]string](b, `shown`); got[0] != "Bo asks / The checkout rounds down" || got[1] != "Eva: your turn / The checkout rounds down" {
		t.Errorf("the notifications: %q", got)
	}
}
