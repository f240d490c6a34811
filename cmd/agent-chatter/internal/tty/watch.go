package tty

import "os"

// A Watch restores a terminal that another package uses, on its alternate screen, if this process dies meanwhile. A
// failure to start it is no error: then nothing restores the terminal. It is not for concurrent use.
type Watch struct {
	in, out *os.File
	watcher *watcher
	saved   settings
}

// NewWatch returns a Watch that restores the settings which the terminal has now, once Hold was called. It starts a
// process of this program, whose main function must call [Watched] first. Close ends it.
func NewWatch(in, out *os.File) *Watch {
	w := &Watch{in: in, out: out}
	var err error
	if w.saved, err = currentSettings(in, out); err == nil {
		w.watcher = startWatcher(in, out)
	}
	return w
}

// Hold is called when the other package has changed the terminal.
func (w *Watch) Hold() {
	if ours, err := currentSettings(w.in, w.out); err == nil {
		w.watcher.claim(claim{Held: true, Alternate: true, Saved: w.saved, Ours: ours})
	}
}

// Release is called before the other package restores the terminal.
func (w *Watch) Release() { w.watcher.claim(claim{}) }

// Close is called when the other package has restored the terminal.
func (w *Watch) Close() {
	w.Release()
	w.watcher.end()
}
