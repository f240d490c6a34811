package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// A restore has files of its own in the directories where it works. Their names begin with tempPrefix, the id of the
// restore, and a hash of the path that is restored:
//
//	NAME.part  content that is not complete
//	NAME       the new file, before it is exchanged with the present one or renamed, and what came out afterwards
//	NAME.old   the present file, where the file system cannot exchange
//
// What came out is removed only if it is what the plan found, which is in a capture.
const (
	tempPrefix = ".agent-chatter-"
	partSuffix = ".part"
	oldSuffix  = ".old"
)

// tempName returns the name of the file that a restore makes for a path.
func tempName(id, name string) string {
	sum := sha256.Sum256([]byte(name))
	return tempPrefix + id + "-" + hex.EncodeToString(sum[:8])
}

// isTemp reports whether a name is that of a file of a restore.
func isTemp(name string) bool {
	id, _, ok := strings.Cut(strings.TrimPrefix(name, tempPrefix), "-")
	if !ok || !strings.HasPrefix(name, tempPrefix) {
		return false
	}
	_, err := ulid.ParseStrict(id)
	return err == nil
}

var (
	errNoDirectory = errors.New("a parent is no directory")
	errNoExchange  = errors.New("the file system cannot exchange files")
)

// A keptError is the reason why a path is kept.
type keptError string

func (e keptError) Error() string { return string(e) }

const errChanged = keptError("it changed after the preview")

// beside is the reason to keep a path of which another version has the name of a file of the restore.
func beside(name string) error {
	return keptError(fmt.Sprintf("%s, and another version of it is in %s", errChanged, name))
}

// RestoreOptions says what a restore works on.
type RestoreOptions struct {
	ID   string // of the restore, a ULID
	Root string // the directory, absolute, without links
	// Read returns the content of a file or the text of a link.
	Read func(objects.Hash) ([]byte, error)

	// Tests replace these.
	before     func(operation string) // called before each change of the directory
	noExchange bool                   // as on a file system that cannot exchange files
}

// Result is what a restore did.
type Result struct {
	Written []string
	Removed []string
	Kept    []Kept // what changed since the plan was made, and what is in the way
	Failed  []Kept // what could not be read or written
}

// Restore executes a plan. It follows no link, and replaces nothing but what the plan found. A file that is saved at
// the same time is kept, and so is each path that fails. Each path that was restored survives a power cut. A crash
// leaves each path as it was or restored, and perhaps files for [Recover]; the same restore, with a new plan, completes
// it.
//
// The error is that of the context, or that the root cannot be opened. The result is valid in either case.
func Restore(ctx context.Context, p Plan, o RestoreOptions) (Result, error) {
	r := restorer{RestoreOptions: o}
	if r.before == nil {
		r.before = func(string) {}
	}
	root, err := openDir(o.Root, ".", false)
	if err != nil {
		return Result{}, err
	}
	root.close()
	if err := r.steps(ctx, p.Removals); err != nil {
		return r.Result, err
	}
	r.removeDirs(p.Dirs)
	return r.Result, r.steps(ctx, p.Writes)
}

// A restorer executes a plan.
type restorer struct {
	RestoreOptions
	Result
}

// steps takes steps until the context ends.
func (r *restorer) steps(ctx context.Context, steps []Step) error {
	for _, step := range steps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.record(step, r.step(step))
	}
	return nil
}

// record adds the outcome of a step to the result.
func (r *restorer) record(step Step, err error) {
	var kept keptError
	switch {
	case errors.As(err, &kept):
		r.Kept = append(r.Kept, Kept{step.Path, kept.Error()})
	case err != nil:
		r.Failed = append(r.Failed, Kept{step.Path, err.Error()})
	case step.Target.IsZero():
		r.Removed = append(r.Removed, step.Path)
	default:
		r.Written = append(r.Written, step.Path)
	}
}

// removeDirs removes the directories that are empty.
func (r *restorer) removeDirs(names []string) {
	for _, name := range names {
		d, err := openDir(r.Root, path.Dir(name), false)
		if err != nil {
			continue
		}
		r.before("remove directory")
		if d.removeDir(path.Base(name)) == nil {
			_ = d.sync()
		}
		d.close()
	}
}

// removeTree removes a directory that has nothing but directories. Otherwise it returns an error, and removes nothing
// unless a file is created meanwhile. No capture has empty directories, so that a plan does not know them.
func (d *dir) removeTree(name string) error {
	for _, visit := range []func(parent *dir, name string) error{
		func(*dir, string) error { return nil }, (*dir).removeDir,
	} {
		if err := d.visitDirs(name, visit); err != nil {
			return err
		}
	}
	return nil
}

// visitDirs calls visit for a directory after those in it. It returns an error if one has anything but directories.
func (d *dir) visitDirs(name string, visit func(parent *dir, name string) error) error {
	sub, err := d.below(name, false)
	if err != nil {
		return err
	}
	defer sub.close()
	names, err := sub.names()
	if err != nil {
		return err
	}
	for _, below := range names {
		if err := sub.visitDirs(below, visit); err != nil {
			return err
		}
	}
	return visit(d, name)
}

// step restores one path.
func (r *restorer) step(s Step) error {
	var content []byte
	var err error
	if !s.Target.IsZero() {
		if content, err = r.Read(s.Target.Hash); err != nil {
			return err
		}
	}
	if s.Present.IsZero() {
		r.before("make directories")
	} else if _, err := r.Read(s.Present.Hash); err != nil { // it would be the only copy
		return keptError("what it contains now cannot be read from the store: " + err.Error())
	}
	d, err := openDir(r.Root, path.Dir(s.Path), s.Present.IsZero())
	switch {
	case errors.Is(err, errNoDirectory):
		return keptError(err.Error())
	case errors.Is(err, fs.ErrNotExist):
		return errChanged
	case err != nil:
		return err
	}
	defer d.close()
	f := file{restorer: r, dir: d, base: path.Base(s.Path), temp: tempName(r.ID, s.Path), Step: s}
	switch {
	case !d.has(f.temp, objects.Entry{}):
		return fmt.Errorf("%s of an unfinished restore exists", f.temp)
	case s.Target.IsZero():
		err = f.remove()
	case s.Present.IsZero():
		err = f.create(content)
	default:
		err = f.replace(content)
	}
	if err != nil {
		return err
	}
	return d.sync()
}

// A file is a path while it is restored.
type file struct {
	*restorer
	dir  *dir // that of the path
	base string
	temp string
	Step
}

// remove removes the present file.
func (f *file) remove() error {
	if !f.dir.has(f.base, f.Present) {
		return errChanged
	}
	f.before("rename away")
	if err := f.dir.rename(f.base, f.temp); err != nil {
		return err
	}
	// Crash here leaves the file that is removed, which may be one that was saved meanwhile, as temp.
	if f.dir.has(f.temp, f.Present) {
		f.before("remove")
		return f.dir.remove(f.temp)
	}
	return f.putBack(f.temp)
}

// putBack gives a file that was saved after the plan its name again.
func (f *file) putBack(name string) error {
	f.before("put back")
	if err := f.dir.renameNew(name, f.base); err != nil {
		return beside(name)
	}
	return errChanged
}

// create creates the target where no file is.
func (f *file) create(content []byte) error {
	if err := f.write(content); err != nil {
		return err
	}
	f.before("create")
	err := f.dir.renameNew(f.temp, f.base)
	if errors.Is(err, fs.ErrExist) && f.dir.removeTree(f.base) == nil {
		err = f.dir.renameNew(f.temp, f.base)
	}
	if err == nil {
		return nil
	}
	f.discard(f.temp, f.Target)
	if errors.Is(err, fs.ErrExist) {
		return keptError("a file that is not captured, or a directory with such files, is in its place")
	}
	return err
}

// write writes the target to temp.
func (f *file) write(content []byte) error {
	part := f.temp + partSuffix
	f.before("write")
	err := f.dir.create(part, f.Target, content, true)
	if err == nil {
		f.before("rename written")
		err = f.dir.rename(part, f.temp)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		_ = f.dir.remove(part)
	}
	return err
}

// discard removes a file of the restore if it has content that a capture has.
func (f *file) discard(name string, known objects.Entry) {
	if f.before("discard"); f.dir.has(name, known) {
		_ = f.dir.remove(name)
	}
}

// replace replaces the present file by the target.
func (f *file) replace(content []byte) error {
	if err := f.write(content); err != nil {
		return err
	}
	if !f.dir.has(f.base, f.Present) {
		f.discard(f.temp, f.Target)
		return errChanged
	}
	if f.noExchange {
		return f.replaceAside()
	}
	f.before("exchange")
	err := f.dir.exchange(f.temp, f.base)
	if errors.Is(err, errNoExchange) {
		return f.replaceAside()
	}
	if err != nil {
		f.discard(f.temp, f.Target)
		if errors.Is(err, fs.ErrNotExist) {
			return errChanged
		}
		return err
	}
	// Crash here leaves the replaced file, which may be one that was saved meanwhile, as temp.
	if f.dir.has(f.temp, f.Present) {
		f.before("remove")
		return f.dir.remove(f.temp)
	}
	return f.exchangeBack()
}

// exchangeBack gives a file that was saved after the plan, and that an exchange has taken out, its name again.
func (f *file) exchangeBack() error {
	f.before("exchange back")
	err := f.dir.exchange(f.temp, f.base)
	if errors.Is(err, fs.ErrNotExist) { // the target was removed meanwhile
		return f.putBack(f.temp)
	}
	// What came out is the target, unless the path was saved a second time.
	if err == nil && f.dir.has(f.temp, f.Target) {
		f.before("remove")
		if err := f.dir.remove(f.temp); err != nil {
			return err
		}
		return errChanged
	}
	return beside(f.temp)
}

// replaceAside replaces the present file where the file system cannot exchange it. The path is missing for a moment, in
// which a file that is saved is not replaced.
func (f *file) replaceAside() error {
	old := f.temp + oldSuffix
	// Without links, the present file could not be put back without replacing another.
	f.before("link")
	err := f.dir.link(f.temp, old)
	if err == nil {
		err = f.dir.remove(old)
	}
	if err == nil {
		f.before("rename aside")
		err = f.dir.rename(f.base, old)
	}
	if err != nil {
		f.discard(f.temp, f.Target)
		return err
	}
	// Crash here leaves the path missing, and the present file as old: Recover puts it back.
	if !f.dir.has(old, f.Present) {
		f.discard(f.temp, f.Target)
		return f.putBack(old)
	}
	f.before("rename")
	err = f.dir.renameNew(f.temp, f.base)
	if errors.Is(err, fs.ErrExist) { // it was saved meanwhile
		f.discard(f.temp, f.Target)
		f.discard(old, f.Present)
		return errChanged
	}
	if err != nil {
		f.discard(f.temp, f.Target)
		return errors.Join(err, f.putBack(old))
	}
	f.before("remove")
	return f.dir.remove(old)
}
