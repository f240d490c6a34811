package webtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

const firstKey = "review/" + first

// state returns the state of a conversation that waits for Eva, with changes.
func state(changes object) object {
	s := object{"hosted": true, "where": "here", "role": "all", "speaking": []object{}, "next": []string{},
		"waiting": []string{"Eva"}, "queue": []object{}, "questions": []object{}, "unsaved": false}
	for name, value := range changes {
		s[name] = value
	}
	return object{"state": s}
}

// speaking returns a turn that runs.
func speaking(turn string, of projection.Speaker, class, doing string) object {
	return object{"turn": turn, "member": of.ID, "name": of.DisplayName, "class": class, "doing": doing,
		"since": time.Now().Add(-12 * time.Second).Format(time.RFC3339)}
}

// permission is a request for permission with a change of a file.
var permission = object{"id": "q1", "turn": "t3", "member": "ada", "name": "Ada", "class": "fg5",
	"title": "Ada requests permission for: Edit calc.go", "lines": []string{"  file_path: /home/eva/shop/calc.go"},
	"hunksHTML": `<table class="hunk"><caption>hunk 1 of 1, line 11</caption><tbody>` +
		`<tr><td class="number">11</td><td class="sign kept"> </td><td class="kept"><code>func Div(a, b float64) (float64, error) {</code></td></tr>` +
		`<tr><td class="number">12</td><td class="sign removed">-</td><td class="removed"><code>	return a / b, nil</code></td></tr>` +
		`<tr><td class="number">12</td><td class="sign added">+</td><td class="added"><code>	if b == 0 {</code></td></tr>` +
		`<tr><td class="number">13</td><td class="sign added">+</td><td class="added"><code>		return 0, ErrZero</code></td></tr>` +
		`<tr><td class="number">14</td><td class="sign added">+</td><td class="added"><code>	}</code></td></tr>` +
		`<tr><td class="number">15</td><td class="sign added">+</td><td class="added"><code>	return a / b, nil</code></td></tr></tbody></table>`,
	"omitted": "", "choices": []string{"allow", "session", "refuse"}, "questions": []object{}}

// asks returns questions with options.
var asks = object{"id": "q2", "turn": "t3", "member": "bo", "name": "Bo", "class": "fg2", "title": "Bo asks",
	"lines": []string{}, "hunksHTML": "", "omitted": "", "choices": []string{"allow", "refuse"}, "questions": []object{
		{"text": "Which rounding should the cart use?", "header": "Rounding", "several": false, "free": true, "optional": false,
			"options": []object{{"label": "Half up", "help": "as in school"}, {"label": "Half to even", "help": "as banks do"}}},
		{"text": "Which tests should run?", "header": "Tests", "several": true, "free": false, "optional": true,
			"options": []object{{"label": "unit", "help": ""}, {"label": "integration", "help": "takes two minutes"}}},
	}}

// chatPage opens a session whose conversation is hosted.
func chatPage(t *testing.T) (*scripted, *tab, *journal.Log) {
	t.Helper()
	home := t.TempDir()
	log := write(t, home, first, review...)
	write(t, home, second, message(you, "Shall we begin?"), message(ada, "We shall.")).Close()
	s := script(t, serve(t, home))
	s.tell(firstKey, state(nil))
	b := open(t, s.address(sessionPath, ""))
	b.wait(`document.querySelectorAll("article.item").length == 5 && document.querySelector(".composer")`)
	return s, b, log
}

// forgive forgets what the browser has reported about an answer that the test provokes.
func (b *tab) forgive(part string) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := b.problems[:0]
	for _, problem := range b.problems {
		if !strings.Contains(problem, part) {
			kept = append(kept, problem)
		}
	}
	b.problems = kept
}

// TestSay writes messages: one with a line break, one that is queued and taken back, one that is not sent.
func TestSay(t *testing.T) {
	s, b, log := chatPage(t)
	if got := value[string](b, `document.querySelector(".next").textContent`); got != "Your turn" {
		t.Errorf("what is next: %q", got)
	}
	b.press("m")
	b.wait(`document.activeElement.matches(".message-field")`)
	b.press("Look at")
	b.run(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(8))) // Shift
	b.press("the tests" + kb.Enter)
	said := s.posted("say")
	if said["text"] != "Look at\nthe tests" || said["id"] == "" {
		t.Errorf("the page said %v", said)
	}
	add(t, log, message(you, "Look at\nthe tests"))
	b.wait(`document.querySelector(".items").lastElementChild.innerText.includes("the tests")`)
	b.wait(`document.querySelector(".message-field").value == "" && document.querySelector(".queue-of-chat").hidden`)

	// A queued message is taken back with the arrow key.
	s.tell(firstKey, state(object{"speaking": []object{speaking("t3", ada, "fg5", "thinks")}, "waiting": []string{},
		"queue": []object{{"id": "a", "text": "first", "from": "terminal"}, {"id": "b", "text": "second", "from": ""}}}))
	b.wait(`document.querySelectorAll(".queue-of-chat li").length == 2 && document.querySelector(".stop")`)
	b.press(kb.ArrowUp)
	if got := s.posted("takeback"); got["id"] != "b" {
		t.Errorf("taken back: %v", got)
	}
	b.wait(`document.querySelector(".message-field").value == "taken back"`)

	// What is not sent stays, also when the page is loaded again, and is sent with the same id.
	s.answer("say", 500, object{"error": "The disk is full."})
	b.press("!" + kb.Enter)
	failed := s.posted("say")
	b.wait(`document.querySelector(".toast.alert")?.innerText.includes("The disk is full.")`)
	b.wait(`document.querySelector(".message-field").value == "taken back!"`)
	b.forgive("500")
	b.run(chromedp.Reload())
	b.wait(`document.querySelector(".message-field")?.value == "taken back!"`)
	s.answer("say", 200, object{"id": "x"})
	b.press("m" + kb.Enter)
	if again := s.posted("say"); again["id"] != failed["id"] || again["text"] != "taken back!" {
		t.Errorf("sent again: %v, at first %v", again, failed)
	}
	b.wait(`document.querySelector(".message-field").value == "" && !document.querySelector(".queue-of-chat").innerText.includes("is sent")`)
	b.press("a draft")
	b.run(chromedp.Reload())
	b.wait(`document.querySelector(".message-field")?.value == "a draft"`)
}

// TestStop stops one member of a panel, and all.
func TestStop(t *testing.T) {
	s, b, _ := chatPage(t)
	s.tell(firstKey, state(object{"waiting": []string{}, "speaking": []object{
		speaking("t3", ada, "fg5", "thinks"), speaking("t4", bo, "fg2", "uses Bash")}}))
	b.wait(`document.querySelectorAll(".speakers .stop").length == 3`)
	b.run(chromedp.Click(`.speakers [data-member="bo"]`))
	if got := s.posted("cancel"); got["member"] != "bo" {
		t.Errorf("cancelled: %v", got)
	}
	b.press("x")
	if got := s.posted("cancel"); got["member"] != "" {
		t.Errorf("cancelled: %v", got)
	}
}

// TestStreaming streams two replies at once. The journal replaces what was streamed.
func TestStreaming(t *testing.T) {
	s, b, log := chatPage(t)
	add(t, log, projection.TurnStarted{TurnID: "t3", MemberID: "ada"}, projection.TurnStarted{TurnID: "t4", MemberID: "bo"})
	s.tell(firstKey, state(object{"waiting": []string{}, "speaking": []object{
		speaking("t3", ada, "fg5", "thinks"), speaking("t4", bo, "fg2", "thinks")}}))
	said := map[string]int{} // by turn: bytes
	text := func(turn, part string) {
		s.tell(firstKey, object{"text": []object{{"turn": turn, "at": said[turn], "text": part}}})
		said[turn] += len(part)
	}
	text("t3", "I look 😀 ")
	text("t4", "<b>Meanwhile</b>")
	text("t3", "at it.")
	b.wait(`document.querySelector("[data-turn=t3] .tail").textContent == "I look 😀 at it."`)
	b.wait(`document.querySelector("[data-turn=t4] .tail").textContent == "<b>Meanwhile</b>"`)
	b.picture("panel")

	add(t, log, projection.TurnText{TurnID: "t3", Text: "I look 😀 at"})
	b.wait(`document.querySelector("[data-turn=t3] .tail").textContent == "it."`)
	text("t3", " Done.")
	b.wait(`document.querySelector("[data-turn=t3] .tail").textContent == "it. Done."`)

	// A page that is opened later has all.
	late := open(t, s.address(sessionPath, ""))
	late.wait(`document.querySelector("[data-turn=t3] .tail").textContent == "it. Done."`)

	add(t, log, message(ada, "I look 😀 at it. Done."),
		projection.TurnEnded{TurnID: "t3", MemberID: "ada", FinishReason: projection.Done, DurationMS: 3000})
	b.wait(`!document.querySelector("[data-turn=t3]") && document.querySelectorAll(".tail").length == 1`)
	b.wait(`document.querySelector(".items").innerText.split("I look 😀 at it. Done.").length == 2`)
}

// atOnce presses the answers of the next question in all ways when they appear.
const atOnce = `new MutationObserver((changes, observer) => {
	const button = document.querySelector(".answers button.allow");
	if (!button) return;
	observer.disconnect();
	button.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
	button.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
	document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "y", bubbles: true }));
	window.triedAtOnce = button.disabled ? "disabled" : "enabled";
}).observe(document.body, { subtree: true, childList: true })`

// TestPermission refuses and allows. Answers take no tap in the first moment.
func TestPermission(t *testing.T) {
	s, b, _ := chatPage(t)
	ask := func(questions ...object) {
		s.tell(firstKey, state(object{"waiting": []string{}, "questions": questions,
			"speaking": []object{speaking("t3", ada, "fg5", "waits for you")}}))
	}
	b.do(atOnce)
	ask(permission)
	b.wait(`window.triedAtOnce`)
	if got := value[string](b, `window.triedAtOnce`); got != "disabled" {
		t.Errorf("the answers are %s at once", got)
	}
	b.wait(`document.querySelector(".answers.armed")`)
	select {
	case p := <-s.posts:
		t.Fatalf("an answer within the first moment: %v", p)
	default:
	}
	b.picture("permission")
	b.run(chromedp.Click(".answers .allow"))
	if got := s.posted("answer"); got["question"] != "q1" || got["decision"] != "allow" {
		t.Errorf("the answer: %v", got)
	}
	ask()
	b.wait(`!document.querySelector(".question")`)

	for key, want := range map[string]string{"y": "allow", "s": "session", "n": "refuse"} {
		ask(permission)
		b.wait(`document.querySelector(".answers.armed")`)
		b.press(key)
		if got := s.posted("answer"); got["decision"] != want {
			t.Errorf("%s: %v", key, got)
		}
		ask()
		b.wait(`!document.querySelector(".question")`)
	}

	// A letter that is typed into the message is no answer.
	ask(permission)
	b.wait(`document.querySelector(".answers.armed")`)
	b.run(chromedp.Focus(".message-field"))
	b.press("yes")
	b.wait(`document.querySelector(".message-field").value == "yes"`)

	// A refusal has a reason. Another device may be faster.
	b.press(kb.Escape + "r")
	b.wait(`document.activeElement.matches(".reason-field")`)
	b.press("not the library")
	s.answer("answer", 409, object{"error": "Eva's phone allowed it."})
	b.wait(`document.querySelector(".answers.armed.reasoning")`)
	b.press(kb.Enter)
	if got := s.posted("answer"); got["decision"] != "refuse" || got["reason"] != "not the library" {
		t.Errorf("the answer: %v", got)
	}
	b.wait(`document.querySelector(".question .problem")?.innerText == "Eva's phone allowed it."`)
	b.forgive("409")
	ask()
	b.wait(`document.querySelector(".notice-of-chat")?.innerText.includes("was answered elsewhere")`)
}

// TestQuestions answers questions with options, several at once.
func TestQuestions(t *testing.T) {
	s, b, _ := chatPage(t)
	s.tell(firstKey, state(object{"waiting": []string{}, "questions": []object{asks, permission},
		"speaking": []object{speaking("t3", bo, "fg2", "waits for you")}}))
	b.wait(`document.querySelector(".answers.armed") && document.querySelectorAll(".form fieldset").length == 2`)
	b.picture("questions")
	b.run(chromedp.Click(".answers .allow"))
	b.wait(`document.querySelector(".question .problem").innerText.includes("Rounding")`)
	b.run(chromedp.Click(".form fieldset:first-of-type .option:nth-of-type(2)"))
	b.wait(`document.querySelector(".answers.armed")`)
	b.run(chromedp.Click(".answers .allow"))
	if got, want := fmt.Sprint(s.posted("answer")["answers"]), "[[Half to even] []]"; got != want {
		t.Errorf("the answers are %s, want %s", got, want)
	}
}

// TestComplete completes a member's name and a command.
func TestComplete(t *testing.T) {
	s, b, _ := chatPage(t)
	s.get("complete", func() any {
		return object{"from": 7, "choices": []object{
			{"insert": "@ada ", "help": "Ada"}, {"insert": "@calc.go ", "help": ""}}}
	})
	b.run(chromedp.Focus(".message-field"))
	b.press("Grüß @a")
	b.wait(`document.querySelectorAll(".completion li").length == 2`)
	b.press(kb.ArrowDown + kb.ArrowDown)
	b.wait(`document.querySelector(".completion [aria-selected=true]").innerText == "@calc.go"`)
	b.press(kb.Enter)
	b.wait(`document.querySelector(".message-field").value == "Grüß @calc.go "`)
	b.press(kb.Enter)
	if got := s.posted("say"); got["text"] != "Grüß @calc.go " {
		t.Errorf("the page said %q", got["text"])
	}
}

// TestAttach attaches a file and removes another one.
func TestAttach(t *testing.T) {
	s, b, _ := chatPage(t)
	b.do(`{
		const data = new DataTransfer();
		data.items.add(new File(["hello"], "note.png", { type: "image/png" }));
		data.items.add(new File(["x"], "other\u202e.png", { type: "image/png" }));
		document.querySelector(".message-field").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
	}`)
	b.wait(`document.querySelectorAll(".attachments li").length == 2`)
	b.run(chromedp.Click(".attachments li:last-child .remove"))
	b.wait(`document.querySelectorAll(".attachments li").length == 1`)
	b.run(chromedp.Click(".composer .send"))
	if got, want := fmt.Sprint(s.posted("say")["files"]), "[map[data:aGVsbG8= name:note.png]]"; got != want {
		t.Errorf("the files are %s, want %s", got, want)
	}
}

// TestContinueHere continues a session that no process runs.
func TestContinueHere(t *testing.T) {
	s, b, _ := chatPage(t)
	s.tell(firstKey, state(object{"hosted": false, "waiting": []string{}}))
	b.wait(`document.querySelector(".continue")`)
	b.picture("continue")
	b.run(chromedp.Click(".continue"))
	s.posted("continue")
	s.tell(firstKey, state(nil))
	b.wait(`document.querySelector(".composer")`)
}

// TestForkAndContinue forks a session at a message and continues there.
func TestForkAndContinue(t *testing.T) {
	s, b, log := chatPage(t)
	log.Close()
	b.press("gf")
	b.wait(`document.querySelector(".toast a")?.innerText == "Continue there"`)
	b.run(chromedp.Click(".toast a"))
	got := <-s.posts
	if !strings.HasSuffix(got.Path, "/continue") || strings.Contains(got.Path, first) {
		t.Errorf("the page sent %s", got.Path)
	}
	b.wait(`location.hash == "" && location.pathname != "` + sessionPath + `"`)
}

// TestNewConversation begins a conversation from the list.
func TestNewConversation(t *testing.T) {
	s := script(t, serve(t, reviewHome(t)))
	b := open(t, s.Origin+"/#token="+s.Token)
	b.wait(`document.querySelector("button.begin")?.checkVisibility()`)
	b.press("c")
	b.wait(`document.querySelector("dialog[open] textarea")`)
	if got := value[string](b, `document.querySelector("dialog option:disabled").textContent`); got != "Deploy (not trusted)" {
		t.Errorf("a team that cannot be started: %q", got)
	}
	b.picture("begin")
	b.run(chromedp.Focus("dialog textarea"))
	b.press("Shall we?" + kb.Enter)
	got := s.posted("conversations")
	if got["team"] != "review" || got["directory"] != "/home/eva/shop" || got["text"] != "Shall we?" || got["id"] == "" {
		t.Errorf("the new conversation: %v", got)
	}
	b.wait(`location.pathname == "` + sessionPath + `"`)
}

// TestReadOnlyPage shows that the page is read-only, and nothing to act with.
func TestReadOnlyPage(t *testing.T) {
	s := script(t, serve(t, reviewHome(t)))
	s.set("chat", false)
	b := open(t, s.address(sessionPath, ""))
	b.wait(`document.querySelector(".dock.read-only")?.innerText.includes("read-only")`)
	if value[bool](b, `Boolean(document.querySelector(".composer, .question, link[href='/chat.css']"))`) {
		t.Error("there is something to act with")
	}
	b.picture("read-only")
}

// TestHostileQuestion shows a question whose text imitates the page. It stays in its frame, and the answers are where
// they always are.
func TestHostileQuestion(t *testing.T) {
	s, b, _ := chatPage(t)
	const imitation = `</pre></div><div class="answers armed"><button class="allow" onclick="alert(1)">Refuse</button></div>`
	q := object{}
	for name, v := range permission {
		q[name] = v
	}
	q["title"] = "Ada requests permission for: ls \u202e gpj.yadiloh\u2066\n\n\n\n[Y] Refuse" + strings.Repeat(" long", 2000)
	q["lines"] = append([]string{imitation, "\u202eeslaf\u202c \x1b[2J\u200b", "[Y] Refuse   [N] Allow"}, strings.Split(strings.Repeat("\n", 3000), "\n")...)
	q["name"], q["hunksHTML"] = "Ada\u202e"+imitation, ""
	s.tell(firstKey, state(object{"questions": []object{q}, "speaking": []object{speaking("t3", ada, "fg5", "waits\u202e")}}))
	b.wait(`document.querySelector(".answers.armed")`)
	for expression, want := range map[string]string{
		`document.querySelectorAll(".question button").length`:                                                                              "5", // with Next question, which is hidden
		`document.querySelectorAll(".asked button, .asked div div").length`:                                                                 "0",
		`/[\u202a-\u202e\u2066-\u2069\u200b\x1b]/.test(document.querySelector(".dock").textContent)`:                                        "false",
		`document.querySelector(".question .answers").getBoundingClientRect().bottom < innerHeight`:                                         "true",
		`document.querySelector(".question h2").offsetHeight < 90`:                                                                          "true",
		`document.querySelector(".asked").getBoundingClientRect().bottom <= document.querySelector(".answers").getBoundingClientRect().top`: "true",
	} {
		if got := fmt.Sprint(value[any](b, expression)); got != want {
			t.Errorf("%s: %s, want %s", expression, got, want)
		}
	}
	b.picture("hostile-question")
}

// TestRunningSessions shows which sessions need a person. They are the first ones in any order.
func TestRunningSessions(t *testing.T) {
	s, b, _ := chatPage(t)
	b.run(navigate(s.address("/?sort=title", "")))
	b.wait(`document.querySelector(".row .live-badge.need")?.innerText == "your turn"`)
	s.tell(firstKey, state(object{"questions": []object{permission}, "speaking": []object{speaking("t3", ada, "fg5", "")}}))
	b.wait(`document.querySelector(".row .live-badge.need")?.innerText == "Ada asks"`)
	want := "The checkout rounds down, Shall we begin?"
	if got := value[string](b, `[...document.querySelectorAll(".row .row-link")].map(e => e.innerText).join(", ")`); got != want {
		t.Errorf("the list: %s", got)
	}
}

// TestLostMessages queues a message whose host is killed. It is in the field again, and is sent with the same id.
func TestLostMessages(t *testing.T) {
	s, b, _ := chatPage(t)
	s.answer("say", 200, object{"id": "page/1"})
	b.press("mCount in cents" + kb.Enter)
	said := s.posted("say")
	busy := object{"waiting": []string{}, "speaking": []object{speaking("t3", ada, "fg5", "")},
		"queue": []object{{"id": "page/1", "text": "Count in cents", "from": "page"}}}
	s.tell(firstKey, state(busy))
	b.wait(`document.querySelectorAll(".queue-of-chat li").length == 1`)
	b.wait(`sessionStorage.getItem("agent-chatter-sent-` + firstKey + `").includes("page/1")`) // the answer has arrived
	b.run(chromedp.Reload())
	b.wait(`document.querySelectorAll(".queue-of-chat li").length == 1 && document.querySelector(".message-field").value == ""`)
	s.tell(firstKey, state(object{"hosted": false, "waiting": []string{}}))
	b.wait(`document.querySelector(".continue") && document.querySelector(".notice-of-chat")`)
	s.tell(firstKey, state(nil))
	b.wait(`document.querySelector(".message-field")?.value == "Count in cents"`)
	b.run(chromedp.Focus(".message-field"))
	b.press(kb.Enter)
	if again := s.posted("say"); again["id"] != said["id"] {
		t.Errorf("sent again: %v, at first %v", again, said)
	}

	// One that leaves the queue is recorded.
	s.tell(firstKey, state(busy))
	b.wait(`document.querySelectorAll(".queue-of-chat li").length == 1`)
	s.tell(firstKey, state(nil))
	b.wait(`!sessionStorage.getItem("agent-chatter-sent-` + firstKey + `")`)
}
