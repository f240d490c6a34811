package catalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

var (
	ctx     = context.Background()
	created = time.Date(2026, 11, 21, 2, 30, 0, 0, time.UTC)
	mia     = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	ada     = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
)

// id is the nth session id.
func id(n int) string { return fmt.Sprintf("01KAHV6T3R8Q4Y2M0N7C5B%04d", n) }

// after is an event some minutes after the session was created.
func after(minutes int, p projection.Payload) journal.Record {
	return projection.Record(created.Add(time.Duration(minutes)*time.Minute), p)
}

func begun(id, team string) journal.Record {
	return after(0, projection.SessionCreated{
		Format:    1,
		SessionID: id,
		CWD:       "/home/mia",
		App:       projection.App{Name: "test", Version: "1"},
		Team: projection.Team{
			ID:      team,
			Name:    team,
			Members: []projection.Member{{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}},
		},
	})
}

func said(minutes int, by projection.Speaker, text string) journal.Record {
	return after(minutes, projection.NewMessage(fmt.Sprint("m", minutes), created, by, text, nil))
}

// chat is a session of n messages, of which the first is the title.
func chat(id, team, title string, n int) []journal.Record {
	records := []journal.Record{begun(id, team)}
	for i := range n {
		by, text := mia, title
		if i%2 == 1 {
			by, text = ada, "well"
		}
		records = append(records, said(i+1, by, text))
	}
	return records
}

// lines returns the lines of records that follow a position.
func lines(t testing.TB, at journal.Position, records ...journal.Record) ([]byte, journal.Position) {
	t.Helper()
	var text []byte
	for _, r := range records {
		e, next, err := at.Next(r)
		if err != nil {
			t.Fatal(err)
		}
		text, at = append(append(text, e.Line()...), '\n'), next
	}
	return text, at
}

// put writes the journal of a session and returns its end.
func put(t testing.TB, team *catalog.Dir, id string, records ...journal.Record) journal.Position {
	t.Helper()
	text, end := lines(t, journal.Position{}, records...)
	write(t, live(team, id), text)
	return end
}

// add appends to the journal of a session and returns its new end.
func add(t testing.TB, team *catalog.Dir, id string, at journal.Position, records ...journal.Record) journal.Position {
	t.Helper()
	text, end := lines(t, at, records...)
	f, err := os.OpenFile(live(team, id), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
	return end
}

func live(team *catalog.Dir, id string) string {
	return filepath.Join(team.Journals().Path(), id+".jsonl")
}

func indexOf(team *catalog.Dir) string {
	return filepath.Join(team.Journals().Path(), "sessions.json")
}

func checkpointOf(team *catalog.Dir, id string) string {
	return filepath.Join(team.Journals().Path(), id+".checkpoint.json")
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// change replaces text in a file once.
func change(t testing.TB, path, old, new string) {
	t.Helper()
	data := string(read(t, path))
	if !strings.Contains(data, old) {
		t.Fatalf("%s has no %q in it:\n%s", path, old, data)
	}
	write(t, path, []byte(strings.Replace(data, old, new, 1)))
	settle(t, path)
}

// settle gives a file a modification time that no earlier content had.
func settle(t testing.TB, path string) {
	t.Helper()
	settled.Lock()
	defer settled.Unlock()
	settled.n++
	at := created.Add(time.Duration(settled.n) * time.Hour)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

var settled struct {
	sync.Mutex
	n int
}

// lister is a Catalog or a Dir.
type lister interface {
	List(context.Context, catalog.Query) (*catalog.Result, error)
}

func list(t testing.TB, l lister) []catalog.Session { return query(t, l, catalog.Query{}).Sessions }

func query(t testing.TB, l lister, q catalog.Query) *catalog.Result {
	t.Helper()
	result, err := l.List(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// archive archives a session as it is.
func archive(t testing.TB, team *catalog.Dir, id string) {
	t.Helper()
	s, err := team.Session(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	pass := team.BeginRetention()
	if _, err := pass.Archive(t.Context(), s, "test"); err != nil {
		t.Fatal(err)
	}
	if err := pass.Close(); err != nil {
		t.Fatal(err)
	}
}

// load returns the state of a session as JSON.
func load(t testing.TB, team *catalog.Dir, id string) (string, catalog.Loaded) {
	t.Helper()
	state, loaded, err := team.Load(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return asJSON(t, state), loaded
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// keep folds a session and writes its checkpoint.
func keep(t testing.TB, team *catalog.Dir, id string) journal.Position {
	t.Helper()
	state, loaded, err := team.Load(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if err := team.WriteCheckpoint(id, state, loaded.At); err != nil {
		t.Fatal(err)
	}
	return loaded.At
}

// withChecksum returns the content of a checkpoint, perhaps a forged one, with the checksum
// that its bytes have.
func withChecksum(data []byte) []byte {
	const key, size = `,"checksum":"`, len(`,"checksum":"00000000"}`)
	body, isWhole := bytes.CutSuffix(bytes.TrimSuffix(data, []byte("\n")), []byte("}"))
	if at := len(body) + 1 - size; isWhole && at >= 0 && bytes.HasPrefix(body[at:], []byte(key)) {
		body = body[:at]
	}
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	return fmt.Appendf(bytes.Clone(body), key+"%08x\"}\n", sum)
}

// dropCaches deletes everything that a catalog has written.
func dropCaches(t testing.TB, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if name := filepath.Base(path); name == "sessions.json" || strings.HasSuffix(name, ".checkpoint.json") {
			return os.Remove(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// answers is what a catalog lists, finds and loads.
type answers struct {
	Sessions []catalog.Session
	Found    map[string]string
	Loaded   map[string]string
}

func ask(t testing.TB, c *catalog.Catalog) answers {
	t.Helper()
	a := answers{list(t, c), map[string]string{}, map[string]string{}}
	names := []string{"latest", "no such session"}
	for _, s := range a.Sessions {
		names = append(names, s.ID, strings.ToLower(s.ID[18:]), s.Title)
		state, loaded, err := c.At(s.Dir()).Load(ctx, s.ID)
		a.Loaded[s.ID] = fmt.Sprint(asJSON(t, state), loaded.At, loaded.Torn, err)
	}
	for _, name := range names {
		s, skipped, err := c.Find(ctx, name)
		a.Found[name] = fmt.Sprint(s.ID, s.Title, s.MessageCount, s.LastSeq, len(skipped), err)
	}
	return a
}

// sameAnswers compares the answers of two catalogs.
func sameAnswers(t testing.TB, want, got answers) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(catalog.Session{})); diff != "" {
		t.Errorf("the answers differ (-want +got):\n%s", diff)
	}
}

// watched records how much is read of each file, and which files are opened for
// writing.
type watched struct {
	vfs.FS
	mu      sync.Mutex
	read    map[string]int64 // bytes, by the base name of the file
	written map[string]int
}

func watch() *watched {
	w := &watched{FS: vfs.OS}
	w.forget()
	return w
}

func (w *watched) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read, w.written = map[string]int64{}, map[string]int{}
}

// journals returns how many journals were opened, and how many bytes of them
// were read.
func (w *watched) journals() (opened int, bytes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, n := range w.read {
		if strings.Contains(name, ".jsonl") {
			opened, bytes = opened+1, bytes+n
		}
	}
	return opened, bytes
}

func (w *watched) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	w.mu.Lock()
	if flag == os.O_RDONLY {
		w.read[filepath.Base(name)] += 0
	} else {
		w.written[filepath.Base(name)]++
	}
	w.mu.Unlock()
	f, err := w.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &watchedFile{f, w, filepath.Base(name)}, nil
}

type watchedFile struct {
	vfs.File
	w    *watched
	name string
}

func (f *watchedFile) count(n int) {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	f.w.read[f.name] += int64(n)
}

func (f *watchedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.count(n)
	return n, err
}

func (f *watchedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.count(n)
	return n, err
}
