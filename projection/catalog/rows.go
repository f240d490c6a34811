package catalog

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

const (
	rowPrefix  = `{"id":"`
	rowsBuffer = 256 << 10 // of a scan; a longer row ends it
	rowWindow  = 64 << 10  // bytes read at once to find a row; longer rows are rarely found
)

// indexRows are the rows of an index that has one on each line. They stay in the file:
// those of a large team are longer than everything else that a list keeps.
type indexRows struct {
	file vfs.File
	end  int64 // offset after the last row
}

// openRows opens the index. It returns nil if the index has another layout or cannot be read.
func (d *Dir) openRows() *indexRows {
	f, err := d.fs.OpenFile(d.indexPath(), os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	x := &indexRows{file: f}
	if info, err := f.Stat(); err == nil && info.Size() <= maxCache {
		head, tail := make([]byte, len(indexHead)), make([]byte, min(info.Size(), 128))
		f.ReadAt(head, 0)
		f.ReadAt(tail, info.Size()-int64(len(tail)))
		if end := bytes.LastIndex(tail, []byte(indexEnd)); string(head) == indexHead && end >= 0 {
			x.end = info.Size() - int64(len(tail)-end)
			return x
		}
	}
	f.Close()
	return nil
}

// place is where a row is in the index. The zero place is none.
type place struct {
	offset int64
	length int
}

// scan calls do with each row that begins in a part of the file. It reports whether all could be read.
func (x *indexRows) scan(from, to int64, do func(line []byte, at place)) bool {
	r := bufio.NewReaderSize(io.NewSectionReader(x.file, from, x.end-from), rowsBuffer)
	for from < to {
		line, err := r.ReadSlice('\n')
		if err != nil && err != io.EOF || len(line) == 0 {
			return false
		}
		row := bytes.TrimSuffix(line, []byte(indexNext))
		do(row, place{from, len(row)})
		from += int64(len(line))
	}
	return true
}

// scanAll calls do with each row, from several goroutines. It reports whether all could be read.
func (x *indexRows) scanAll(do func(line []byte, at place)) bool {
	parts := int64(runtime.GOMAXPROCS(0))
	starts := []int64{int64(len(indexHead))}
	for part := range parts - 1 {
		start, ok := x.rowAfter(x.end * (part + 1) / parts)
		if !ok {
			return false
		}
		starts = append(starts, max(start, starts[len(starts)-1]))
	}
	starts = append(starts, x.end)
	var wg sync.WaitGroup
	complete := make([]bool, parts)
	for part := range complete {
		wg.Go(func() { complete[part] = x.scan(starts[part], starts[part+1], do) })
	}
	wg.Wait()
	for _, ok := range complete {
		if !ok {
			return false
		}
	}
	return true
}

// rowAfter returns the offset of the first row that begins after an offset.
func (x *indexRows) rowAfter(offset int64) (int64, bool) {
	window := make([]byte, rowWindow)
	n, _ := x.file.ReadAt(window, offset)
	i := bytes.IndexByte(window[:n], '\n')
	return min(offset+int64(i)+1, x.end), i >= 0
}

// read returns the line of a session's row: at its place or, if the index was replaced, where it is now.
// It returns "" if there is none.
func (x *indexRows) read(id string, at place) string {
	prefix := rowPrefix + id + `"`
	if at.length > 0 && at.offset+int64(at.length) <= x.end {
		line := make([]byte, at.length)
		if _, err := x.file.ReadAt(line, at.offset); err == nil && strings.HasPrefix(string(line), prefix) {
			return string(line)
		}
	}
	return x.find(prefix)
}

// find returns the line that begins with a prefix. The rows are ordered by id.
func (x *indexRows) find(prefix string) string {
	from, to := int64(len(indexHead)), x.end
	for to-from > 4*rowWindow {
		start, ok := x.rowAfter((from + to) / 2)
		head := make([]byte, len(prefix))
		if _, err := x.file.ReadAt(head, start); !ok || err != nil {
			return ""
		}
		if string(head) <= prefix {
			from = start
		} else {
			to = start
		}
	}
	text := make([]byte, to-from)
	if _, err := x.file.ReadAt(text, from); err != nil {
		return ""
	}
	if at := strings.Index("\n"+string(text), "\n"+prefix); at >= 0 {
		line, _, _ := strings.Cut(string(text)[at:], "\n")
		return strings.TrimSuffix(line, ",")
	}
	return ""
}

// openedRows reads rows of several directories in succession. The zero openedRows has none open.
type openedRows struct {
	dir  *Dir
	rows *indexRows // of dir; nil: it cannot be read
}

// read returns the line of a session's row as indexRows.read does.
func (o *openedRows) read(d *Dir, id string, at place) string {
	if o.dir != d {
		o.close()
		o.dir, o.rows = d, d.openRows()
	}
	if o.rows == nil {
		return ""
	}
	return o.rows.read(id, at)
}

func (o *openedRows) close() {
	if o.rows != nil {
		o.rows.file.Close()
	}
	*o = openedRows{}
}
