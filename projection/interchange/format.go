package interchange

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agent-chatter/agent-chatter/projection"
)

// A Format is the format of another program's transcripts, as it describes itself. A file is of the first format, in
// the order of registration, that detects it. Only Name and Read are needed: a format that detects nothing has to be
// named.
type Format struct {
	// Name is the value of --format, and the id of the team of the sessions.
	Name string
	// Detect reports whether an object with at least these fields is a transcript or a line of one. It gets the fields
	// of an object one after the other; nil detects none.
	Detect func(Fields) bool
	// DetectWhole is like Detect for what only missing fields tell: it gets all fields of an object that no
	// Detect knows.
	DetectWhole func(Fields) bool
	// Read reads a transcript, as described at [Transcript].
	Read func(Source, projection.App) (*Session, error)
}

// The table of formats, in the order of registration.
var formats []Format

// RegisterFormat adds a format to the table. It is called where package variables are initialized, as in
//
//	var _ = interchange.RegisterFormat(interchange.Format{Name: "pi", Detect: isPi, Read: piSession})
//
// It panics if the name is taken, and returns true.
func RegisterFormat(f Format) bool {
	_, taken := lookupFormat(f.Name)
	reserved := []string{"", "auto", JournalFormat, BundleFormat, SnapshotFormat, TeamFile, ExportFormat}
	if taken || slices.Contains(reserved, f.Name) || f.Read == nil {
		panic(fmt.Sprintf("interchange: the format %q is registered or incomplete", f.Name))
	}
	formats = append(formats, f)
	return true
}

// Formats returns all formats of transcripts, by name.
func Formats() []Format {
	return slices.SortedFunc(slices.Values(formats), func(a, b Format) int { return cmp.Compare(a.Name, b.Name) })
}

func lookupFormat(name string) (Format, bool) {
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return formats[i], true
}

// Fields are the first fields of an object, with those values that are strings.
type Fields map[string]string

// Has reports whether the object has all these fields.
func (o Fields) Has(names ...string) bool {
	for _, name := range names {
		if _, ok := o[name]; !ok {
			return false
		}
	}
	return true
}
