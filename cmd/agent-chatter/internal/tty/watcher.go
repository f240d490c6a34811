package tty

// claim is what a Terminal has changed. Its watcher undoes that if the process of the Terminal dies.
type claim struct {
	Held        bool
	Alternate   bool // the alternate screen is shown
	Cursor      place
	Saved, Ours settings
}
