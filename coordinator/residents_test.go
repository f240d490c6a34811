package coordinator_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// living returns the number of programs that run.
func (v *vendor) living() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.running
}

// With 20 conversations of several processes, at most so many programs run in a home.
func TestResidentsOfAHomeAreBounded(t *testing.T) {
	const most = 8
	v, dir := newVendor(), filepath.Join(t.TempDir(), "residents")
	var processes []*coordinator.Residents // which do not know of each other
	for range 4 {
		processes = append(processes, &coordinator.Residents{Max: most, Dir: dir})
	}
	var all []*remembering
	for i := range 20 {
		r := remember(t, &store.Memory{}, v, "", func(o *coordinator.Options, t *team.Team) {
			o.Residents = processes[i%len(processes)]
			cid := t.Members[1]
			cid.ID, cid.Name, cid.DisplayName = "cid", "cid", "Cid"
			t.Members = append(t.Members, cid)
		})
		all = append(all, r)
		for _, text := range []string{"[NEXT: ada] alpha", "[NEXT: bob] beta", "[NEXT: cid] gamma"} {
			r.say(text)
			// The owner of the program that has waited longest was asked to end it, and does so without delay.
			await(t, func() bool { return v.living() <= most })
		}
	}
	for _, r := range all {
		r.stop()
	}
	if n := v.living(); n != 0 {
		t.Errorf("%d programs are left", n)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("files are left: %v, %v", files, err)
	}
}

// await polls until a condition holds, of which there is no notification.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	for !holds() {
		if t.Context().Err() != nil {
			t.Fatal("the test has ended")
		}
		time.Sleep(time.Millisecond)
	}
}

// The program that has waited longest makes room, whichever process has it.
func TestLongestWaitingMakesRoom(t *testing.T) {
	v, dir := newVendor(), t.TempDir()
	begin := func(shared *coordinator.Residents) *remembering {
		return remember(t, &store.Memory{}, v, "", func(o *coordinator.Options, _ *team.Team) { o.Residents = shared })
	}
	older, newer := &coordinator.Residents{Max: 2, Dir: dir}, &coordinator.Residents{Max: 2, Dir: dir}
	first, second, third := begin(older), begin(newer), begin(newer)
	first.say("alpha")
	backdate(t, filepath.Join(dir, "1.lock"))
	second.say("alpha")
	// It asks the process of the first, and has no slot until that has ended its program.
	isFree := func() bool {
		_, err := os.Stat(filepath.Join(dir, "1.lock"))
		return err != nil
	}
	v.script = []turnFunc{calls(func() { await(t, isFree) }, says("ok"))}
	third.say("alpha")
	third.say("beta")
	third.checkAttached("continued", "")
	second.say("beta")
	second.checkAttached("continued", "")
	first.say("beta")
	first.checkAttached("resumed", "")
}

// backdate sets the time of change of a file back.
func backdate(t *testing.T, path string) {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
}

// What a killed process leaves does not count, and neither does what is no slot.
func TestSlotsThatNothingUses(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"1.lock": "xx", "2.lock": "x", "other": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v := newVendor()
	r := remember(t, &store.Memory{}, v, "", func(o *coordinator.Options, _ *team.Team) {
		o.Residents = &coordinator.Residents{Max: 2, Dir: dir}
	})
	r.say("[NEXT: ada] alpha", "[NEXT: bob] alpha", "[NEXT: ada] beta")
	r.checkAttached("continued", "")
	if info, err := os.Stat(filepath.Join(dir, "1.lock")); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", info, err)
	}
	r.stop()
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 1 || !strings.HasSuffix(files[0], "other") {
		t.Errorf("left: %q", files)
	}
}

// Without a directory that can be used, a process counts its own programs.
func TestSlotsWithoutADirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	links := t.TempDir()
	if err := os.Symlink(file, filepath.Join(links, "1.lock")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	for _, dir := range []string{file, links} {
		v := newVendor()
		r := remember(t, &store.Memory{}, v, "", func(o *coordinator.Options, _ *team.Team) {
			o.Residents = &coordinator.Residents{Max: 1, Dir: dir}
		})
		r.say("[NEXT: ada] alpha", "[NEXT: bob] alpha")
		if n := v.living(); n != 1 {
			t.Errorf("%d programs run", n)
		}
		if info, err := os.Stat(file); err != nil || info.Size() != 0 {
			t.Errorf("the file was changed: %v, %v", info, err)
		}
	}
}
