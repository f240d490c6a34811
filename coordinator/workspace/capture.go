package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

const (
	// racy is how long before a capture a file must have been left alone to count as unchanged later: times of files
	// are as coarse as the ticks of the kernel.
	racy = 20 * time.Millisecond
	// maxLink is the length of the longest text of a link, in bytes.
	maxLink = 64 << 10
	// readTries is how often a file that changes while it is read is read.
	readTries = 3
)

// Limits bound a capture. A zero value is no limit.
type Limits struct {
	Files     int           // in the directory
	Bytes     int64         // that one capture reads
	FileBytes int64         // of a file; a larger one is skipped
	Time      time.Duration // of a capture
	FirstTime time.Duration // of the first capture of a directory
	Free      uint64        // bytes that stay free on the disk of the store
	Stores    int64         // bytes of all stores of the home, above which nothing is added
}

// DefaultLimits are the limits without a configuration.
var DefaultLimits = Limits{
	Files: 50_000, Bytes: 512 << 20, FileBytes: 32 << 20, Time: 10 * time.Second, FirstTime: time.Minute, Free: 1 << 30,
	Stores: 2 << 30,
}

// LimitError is the error of a capture that exceeds a limit. Nothing of it is stored.
type LimitError struct {
	Root  string
	Limit string // the field of Limits
	Value int64  // of the field; a time in nanoseconds
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s exceeds the limit %s of %d", e.Root, e.Limit, e.Value)
}

// OfDirectory reports whether the directory exceeds the limit, unlike the disk or all stores.
func (e *LimitError) OfDirectory() bool { return e.Limit != "Free" && e.Limit != "Stores" }

// Capture is what the files of a directory contained at one time.
type Capture struct {
	Tree     objects.Hash
	Files    int       // files and links in the tree
	Bytes    int64     // their size
	Skipped  []Skipped // sorted by path
	Notes    []string  // how the list of files differs from what Git tracks
	Duration time.Duration
	// Exceeded is the limit because of which the files that are as in Git's index are not captured; nil: they are.
	Exceeded *LimitError
}

// Capture stores the files of the directory under the name id, a ULID. When it returns nil, the tree survives a power
// cut. progress is called with the number of files that were read so far; it may be nil. Errors are a *LimitError, a
// *BusyError, or say that the directory cannot be listed or the store cannot be written; nothing is stored then.
func (w *Workspace) Capture(ctx context.Context, id string, progress func(files int)) (Capture, error) {
	if free, err := freeBytes(w.home); err == nil && w.Limits.Free > 0 && free < w.Limits.Free {
		return Capture{}, w.limit("Free", int64(w.Limits.Free))
	}
	release, err := w.lock(ctx)
	if err != nil {
		return Capture{}, err
	}
	defer release()
	c := &capture{w: w, before: w.readCache(), progress: progress}
	if w.exceeded == nil {
		result, err := c.within(ctx, id)
		var limit *LimitError
		if !w.narrow || !errors.As(err, &limit) || !limit.OfDirectory() {
			return result, err
		}
		w.exceeded = limit
	}
	c.partial = true
	if c.before.files != nil {
		c.held, _ = w.store.IsPartial(c.before.tree) // without the tree, nothing is held
	}
	return c.within(ctx, id)
}

// within captures the directory within the time that is allowed.
func (c *capture) within(ctx context.Context, id string) (Capture, error) {
	started, w := time.Now(), c.w
	c.now, c.read = cache{started: started.UnixNano()}, 0
	limit, name := w.Limits.Time, "Time"
	if c.before.files == nil {
		limit, name = w.Limits.FirstTime, "FirstTime"
	}
	if limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit, w.limit(name, int64(limit)))
		defer stop()
	}
	var err error
	if c.disk, err = openDisk(w.root); err != nil {
		return Capture{}, err
	}
	defer c.disk.close()
	result, err := c.run(ctx, id)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	result.Duration = time.Since(started)
	return result, err
}

func (w *Workspace) limit(name string, value int64) error { return &LimitError{w.root, name, value} }

// capture is one call of Capture.
type capture struct {
	w        *Workspace
	disk     *disk
	before   *cache
	now      cache
	progress func(int)
	partial  bool // without the contents of files that are as in Git's index
	// held is whether files that the last capture stored stay captured when they are as in Git's index: otherwise they
	// would be missing because Git has them now.
	held    bool
	tracked map[string]indexed // of a partial capture

	files   []objects.File // of the tree
	skipped []Skipped
	changed []cached // to be read
	read    int64    // bytes
	inGit   int      // files with the mode objects.ModeInGit
}

// run lists the directory while it describes the files that are known from the last capture.
func (c *capture) run(ctx context.Context, id string) (Capture, error) {
	known := make(chan []described)
	go func() { known <- c.describe() }()
	listed, err := c.w.list(ctx, c.partial)
	stats := <-known
	if err != nil {
		var many *TooManyError
		if errors.As(err, &many) {
			err = c.w.limit("Files", int64(c.w.Limits.Files))
		}
		return Capture{}, err
	}
	if c.partial && len(listed.tracked) == 0 { // there is no repository, or Git has no file of the directory
		return Capture{}, c.w.exceeded
	}
	if err := c.sort(ctx, listed, stats); err != nil {
		return Capture{}, err
	}
	if err := c.checkSizes(); err != nil {
		return Capture{}, err
	}
	result := Capture{Notes: listed.notes}
	result.Tree, err = objects.Tree(c.files, objects.HashObject)
	if len(c.changed) > 0 || result.Tree != c.before.tree {
		result.Tree, err = c.store(ctx, id)
	}
	for _, f := range c.files {
		if f.Stored() {
			result.Files++
			result.Bytes += f.Size
		}
	}
	result.Skipped = c.skipped
	if c.partial {
		result.Exceeded = c.w.exceeded
		result.Skipped = append(result.Skipped, Skipped{".", fmt.Sprintf("%d files that Git has", c.inGit)})
	}
	slices.SortFunc(result.Skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	return result, err
}

// sort finds out what is to be read of the files that are listed.
func (c *capture) sort(ctx context.Context, listed listing, stats []described) error {
	c.files, c.skipped, c.changed, c.now.files, c.inGit = nil, nil, nil, nil, 0
	for _, s := range listed.skipped {
		c.skip(s.Path, s.Why)
	}
	c.tracked = listed.tracked
	if err := c.compare(ctx, listed.paths, stats); err != nil || !c.partial {
		return err
	}
	c.files = append(c.files, objects.Partial)
	limit := c.w.Limits.Files
	switch {
	case limit == 0 || len(c.now.files)+len(c.changed) <= limit:
		return nil
	case c.held:
		c.held = false
		return c.sort(ctx, listed, stats)
	}
	return c.w.limit("Files", int64(limit))
}

// described is a file of the last capture as it is now.
type described struct {
	stat stat
	err  error
}

// describe describes the files of the last capture.
func (c *capture) describe() []described {
	stats := make([]described, len(c.before.files))
	for i, f := range c.before.files {
		stats[i].stat, stats[i].err = c.disk.lstat(f.path)
	}
	return stats
}

// compare takes over the files that are unchanged since the last capture, and finds those that are to be read.
func (c *capture) compare(ctx context.Context, paths []string, stats []described) error {
	next := 0
	for i, name := range paths {
		if i%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for next < len(stats) && c.before.files[next].path < name {
			next++ // it is no longer listed
		}
		var last *cached
		var now described
		if next < len(stats) && c.before.files[next].path == name {
			last, now = &c.before.files[next], stats[next]
			next++
		} else {
			now.stat, now.err = c.disk.lstat(name)
		}
		c.add(name, last, now)
	}
	return nil
}

// add adds a file that is listed to the tree, or to those that are to be read, or skips it. last is nil if the last
// capture did not have it.
func (c *capture) add(name string, last *cached, now described) {
	mode := now.stat.mode
	git, isTracked := c.tracked[name]
	switch {
	case now.err == nil && isTracked && git.isAsNow(now.stat) && !(c.held && last != nil):
		c.inGit++
		c.files = append(c.files, objects.File{Path: name, Entry: git.Entry})
	case errors.Is(now.err, fs.ErrNotExist): // Git tracks it
	case now.err != nil:
		c.skip(name, reason(now.err))
	case mode&objects.ModeType == objects.ModeDir: // instead of a file that Git tracks; its files are listed
	case mode&objects.ModeType != objects.ModeFile && mode&objects.ModeType != objects.ModeLink:
		c.skip(name, "it is neither a file nor a link")
	case c.w.Limits.FileBytes > 0 && now.stat.size > c.w.Limits.FileBytes:
		c.skip(name, fmt.Sprintf("%d bytes, over %d", now.stat.size, c.w.Limits.FileBytes))
	case last != nil && last.stat == now.stat && max(now.stat.mtime, now.stat.ctime) < c.before.started-int64(racy):
		c.keep(*last)
	default:
		c.changed = append(c.changed, cached{path: name, stat: now.stat})
	}
}

// keep adds a file whose content is stored.
func (c *capture) keep(f cached) {
	mode := f.stat.mode
	if mode&objects.ModeType == objects.ModeLink {
		mode = objects.ModeLink
	}
	c.now.files = append(c.now.files, f)
	c.files = append(c.files, objects.File{
		Path: f.path, Entry: objects.Entry{Mode: mode, Hash: f.hash, Size: f.stat.size},
	})
}

// skip adds a path whose content is not stored.
func (c *capture) skip(name, why string) {
	c.skipped = append(c.skipped, Skipped{name, why})
	entry := objects.Entry{Mode: objects.ModeSkipped, Hash: objects.HashOf([]byte(why))}
	c.files = append(c.files, objects.File{Path: name, Entry: entry})
}

// reason returns why a file cannot be read, without its path.
func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return err.Error()
}

// checkSizes returns an error if what is to be read exceeds the limit.
func (c *capture) checkSizes() error {
	var n int64
	for _, f := range c.changed {
		n += f.stat.size
	}
	if limit := c.w.Limits.Bytes; limit > 0 && n > limit {
		return c.w.limit("Bytes", limit)
	}
	return nil
}

// store stores the changed files and the directories of the tree.
func (c *capture) store(ctx context.Context, id string) (tree objects.Hash, err error) {
	stored, limit := int64(0), c.w.Limits.Stores
	if limit > 0 {
		if stored, err = StoredBytes(c.w.home); err != nil {
			return objects.Hash{}, err
		}
	}
	err = c.w.store.Write(id, func(out *objects.Writer) error {
		for i, f := range c.changed {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := c.storeFile(out, f); err != nil {
				return err
			}
			if c.progress != nil {
				c.progress(i + 1)
			}
		}
		for _, s := range c.skipped {
			if _, err := out.Put([]byte(s.Why)); err != nil {
				return err
			}
		}
		if tree, err = objects.Tree(c.files, out.Put); err == nil && stored > limit && out.Added() {
			err = c.w.limit("Stores", limit)
		}
		return err
	})
	if err != nil {
		return objects.Hash{}, err
	}
	c.now.tree = tree
	slices.SortFunc(c.now.files, func(a, b cached) int { return cmp.Compare(a.path, b.path) })
	c.w.writeCache(&c.now)
	return tree, nil
}

// errUnstable is the error of a file that changed while it was read.
var errUnstable = errors.New("it changes while it is read")

// storeFile stores a file, or skips it if it cannot be read.
func (c *capture) storeFile(out *objects.Writer, f cached) error {
	var content []byte
	err := errUnstable
	for try := 0; try < readTries && err == errUnstable; try++ {
		content, f.stat, err = c.content(f.path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it was removed since it was listed
	case err != nil:
		c.skip(f.path, reason(err))
		return nil
	}
	if c.read += int64(len(content)); c.w.Limits.Bytes > 0 && c.read > c.w.Limits.Bytes {
		return c.w.limit("Bytes", c.w.Limits.Bytes)
	}
	if f.hash, err = out.Put(content); err != nil {
		return err
	}
	f.stat.size = int64(len(content))
	c.keep(f)
	return nil
}

// content returns the content of a file or the text of a link, and its description from before it was read.
func (c *capture) content(name string) ([]byte, stat, error) {
	before, err := c.disk.lstat(name)
	if err != nil {
		return nil, before, err
	}
	if before.mode&objects.ModeType == objects.ModeLink {
		text, err := c.disk.readlink(name)
		if after, statErr := c.disk.lstat(name); err == nil && (statErr != nil || after != before) {
			err = errUnstable
		}
		return []byte(text), before, err
	}
	f, err := c.disk.open(name)
	if err != nil {
		if now, statErr := c.disk.lstat(name); statErr == nil && now != before {
			err = errUnstable
		}
		return nil, before, err
	}
	defer f.Close()
	if opened, err := statFile(f); err != nil || opened != before {
		return nil, before, cmp.Or(err, errUnstable)
	}
	if limit := c.w.Limits.FileBytes; limit > 0 && before.size > limit {
		return nil, before, errors.New("it grew over the limit")
	}
	content := make([]byte, before.size, before.size+1)
	_, err = io.ReadFull(f, content)
	if err == nil { // the file must end here
		var n int
		n, err = f.Read(content[before.size:cap(content)])
		if n == 0 && err == io.EOF {
			err = nil
		} else if err == nil {
			err = errUnstable
		}
	} else if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errUnstable
	}
	if after, statErr := statFile(f); err == nil && (statErr != nil || after != before) {
		err = errUnstable
	}
	return content, before, err
}
