package webtest

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/page"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var full = flag.Bool("full", false, "measure at full size, where ratios and sizes beyond their bounds fail")

// sizes says how much is measured.
type sizes struct {
	shortest, longest int           // messages of the sessions that are painted
	listed            int           // sessions
	followed          int           // messages that are appended
	watched           time.Duration // how long ten tabs are open
	rounds            int           // of each measurement
}

var (
	fullSizes  = sizes{1_000, 1_000_000, 10_000, 100, 10 * time.Minute, 15}
	smallSizes = sizes{100, 10_000, 500, 10, 0, 3}
)

// figures measures the program in a browser.
type figures struct {
	*testing.T
	sizes
}

// TestFigures prints what the pages cost. At full size, a ratio or a size in memory beyond its bound is a failure; a
// time never is.
func TestFigures(t *testing.T) {
	f := &figures{t, smallSizes}
	if *full {
		f.sizes = fullSizes
	}
	fmt.Printf("# Figures of the pages\n\n%s, %d cores. Times are medians.\n", runtime.Version(), runtime.NumCPU())
	for _, group := range []struct {
		name    string
		measure func(*figures)
	}{
		{"paint", (*figures).paint}, {"list", (*figures).list}, {"follow", (*figures).follow}, {"tabs", (*figures).tabs},
	} {
		t.Run(group.name, func(t *testing.T) {
			fmt.Printf("\n## %s\n\n", group.name)
			group.measure(&figures{t, f.sizes})
		})
	}
}

// report prints a figure. most is the bound of a ratio or a size, 0 if it has none.
func (f *figures) report(what string, value, most float64, unit string) {
	f.Helper()
	text := fmt.Sprintf("%s: %.4g %s", what, value, unit)
	if most > 0 {
		text += fmt.Sprintf(" (at most %.4g)", most)
	}
	fmt.Println("- " + text)
	if *full && most > 0 && value > most {
		f.Error(text)
	}
}

// median returns the median of times, in milliseconds.
func median(times []float64) float64 {
	slices.Sort(times)
	return times[len(times)/2]
}

// painted is a script that notes when the first message or session has been painted: in the frame after the one in
// which it exists.
const painted = `(() => {
	const look = () => {
		const box = document.querySelector(".items article, .rows .row-link")?.getBoundingClientRect();
		if (!box?.height) return requestAnimationFrame(look);
		requestAnimationFrame(() => window.paintedAt = performance.now());
	};
	requestAnimationFrame(look);
})()`

// newStopwatch opens a tab that notes when its pages are painted.
func newStopwatch(f *figures) *tab {
	f.Helper()
	b := newTab(f)
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: painted}); err != nil {
		f.Fatal(err)
	}
	return b
}

// painting opens an address and returns after how many milliseconds it was painted.
func painting(b *tab, address string) float64 {
	b.Helper()
	b.run(navigate(address))
	b.wait(`window.paintedAt`)
	return value[float64](b, `window.paintedAt`)
}

// paint measures the first useful paint of a short and a long session. The first list makes the index that has what is
// known of a session: before, its whole journal is read.
func (f *figures) paint() {
	var addresses []string
	var last *server
	b := newStopwatch(f)
	defer b.run(chromedp.Navigate("about:blank")) // the servers end before the tab, which would report that
	lengths := []int{f.shortest, f.longest}
	for _, messages := range lengths {
		home, id := longHome(f, messages)
		last = serve(f, home)
		address := last.address("/s/review/"+id, "")
		f.report(fmt.Sprintf("first paint of %d messages, without an index", messages), painting(b, address), 0, "ms")
		run(f, home, "sessions")
		addresses = append(addresses, address)
	}
	times := make([][]float64, len(lengths))
	for range f.rounds {
		for i, address := range addresses {
			times[i] = append(times[i], painting(b, address))
		}
	}
	short, long := median(times[0]), median(times[1])
	f.report(fmt.Sprintf("first paint of %d messages", lengths[0]), short, 0, "ms")
	f.report(fmt.Sprintf("first paint of %d messages", lengths[1]), long, 0, "ms")
	f.report("the long session, relative to the short one", long/short, 1.5, "×")
	f.report("most memory of the server", last.status(f, "VmHWM"), 100, "MB")
}

// list measures the list of many sessions, next to the command that prints as many rows as the page reads.
func (f *figures) list() {
	home := f.TempDir()
	sessions := catalogtest.Sessions{Team: "review", Count: f.listed}
	if _, err := sessions.Fill(filepath.Join(home, "sessions")); err != nil {
		f.Fatal(err)
	}
	s := serve(f, home)
	b := newStopwatch(f)
	var requests, commands, paints []float64
	for range f.rounds {
		paints = append(paints, painting(b, s.Address))
		requests = append(requests, f.taking(func() { s.get(f, "/api/sessions?limit=100") }))
		commands = append(commands, f.taking(func() { run(f, home, "sessions", "--output", "json", "--limit", "100") }))
	}
	f.report(fmt.Sprintf("first paint of a list of %d", f.listed), median(paints), 0, "ms")
	f.report("its request", median(requests), 0, "ms")
	f.report("sessions --output json --limit 100", median(commands), 0, "ms")
	f.report("the request, relative to the command", median(requests)/median(commands), 2, "×")
	f.report("most memory of the server", s.status(f, "VmHWM"), 100, "MB")
}

// follow measures the time from an append to the message in the page.
func (f *figures) follow() {
	home := f.TempDir()
	log := write(f, home, first, review...)
	s := serve(f, home)
	b := open(f, s.address(sessionPath, ""))
	b.wait(`document.querySelectorAll("article.item").length == 5`)
	b.do(`window.arrivals = {};
		new MutationObserver(() => arrivals[document.querySelector(".items").lastElementChild?.dataset.end] ??= Date.now())
			.observe(document.querySelector(".items"), { childList: true, subtree: true })`)
	var times []float64
	for range f.followed {
		began := time.Now()
		add(f, log, message(ada, "One more message."))
		arrival := fmt.Sprintf("arrivals[%d]", log.Position().Seq)
		b.wait(arrival)
		times = append(times, value[float64](b, arrival)-float64(began.UnixMilli()))
	}
	f.report("from the append to the page", median(times), 0, "ms")
	f.report("the slowest", times[len(times)-1], 0, "ms")
}

// tabs keeps ten tabs open, which follow a session, and return to the list and to the session. Neither the server nor
// the pages grow.
func (f *figures) tabs() {
	home := f.TempDir()
	log := write(f, home, first, review...)
	s := serve(f, home)
	var tabs []*tab
	for range 10 {
		b := open(f, s.address(sessionPath, ""))
		b.wait(`document.querySelectorAll("article.item").length == 5`)
		tabs = append(tabs, b)
	}
	round := func(text string) {
		add(f, log, message(ada, text))
		for _, b := range tabs {
			b.wait(fmt.Sprintf(`document.querySelector(".items").textContent.includes(%q)`, text))
			b.do(`document.querySelector("a.back").click()`) // a tab in the background takes no clicks of a mouse
			b.listed(1)
			b.do(`document.querySelector(".rows .row-link").click()`)
			b.wait(fmt.Sprintf(`document.querySelector(".items")?.textContent.includes(%q)`, text))
		}
	}
	for i := range 5 { // until all that is kept once is there
		round(fmt.Sprintf("Warm %d.", i))
	}
	files, memory, heap := s.files(f), s.status(f, "VmRSS"), heaps(tabs)
	began, rounds := time.Now(), 0
	for ; rounds < f.rounds || time.Since(began) < f.watched; rounds++ {
		round(fmt.Sprintf("Round %d.", rounds))
	}
	fmt.Printf("- %d rounds in %d tabs\n", rounds, len(tabs))
	// A browser has at most six connections to a host.
	f.report(fmt.Sprintf("open files of the server, %d before", files), float64(s.files(f)), float64(files+6), "files")
	f.report("memory of the server, relative to before", s.status(f, "VmRSS")/memory, 1.5, "×")
	after := heaps(tabs)
	f.report("memory of the pages", after, 0, "MB")
	f.report("memory of the pages, relative to before", after/heap, 1.5, "×")
	f.report("most memory of the server", s.status(f, "VmHWM"), 100, "MB")
}

// heaps returns the MB that the scripts of tabs use.
func heaps(tabs []*tab) (sum float64) {
	for _, b := range tabs {
		b.run(call(heapprofiler.CollectGarbage, cdp.Empty{}))
		usage, err := chromedp.Call(b.ctx, cdpruntime.GetHeapUsage, cdp.Empty{})
		if err != nil {
			b.Fatal(err)
		}
		sum += usage.UsedSize / 1e6
	}
	return sum
}

// taking returns the milliseconds that a function takes.
func (f *figures) taking(do func()) float64 {
	began := time.Now()
	do()
	return float64(time.Since(began).Microseconds()) / 1000
}

// get requests a path and reads the answer.
func (s *server) get(t testing.TB, path string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Origin+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, answer.Status, err)
	}
}

// status returns a size in the status of the process of a server, in MB.
func (s *server) status(t testing.TB, name string) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, name+":"); found {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return float64(kb) * 1024 / 1e6
		}
	}
	t.Fatalf("the status has no %s", name)
	return 0
}

// files returns how many files and connections a server has open.
func (s *server) files(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
