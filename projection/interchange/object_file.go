package interchange

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
)

// eachField passes the fields of the object that is the whole file to a function until
// that returns false, each element of the array list as a field of that name. whole
// reports whether the file is such an object, before and after which is no other.
func (s Source) eachField(list string, each func(name string, value jsonValue) bool) (whole bool, err error) {
	f, err := s.Open()
	if err != nil {
		return false, err
	}
	defer f.Close()
	text := utf8Text(f)
	start, _ := text.Peek(detectLine)
	_, _ = text.Discard(objectStart(start)) // what was peeked; a program may have printed its status before the object
	file := &valueReader{failingReader: failingReader{r: text}}
	d := json.NewDecoder(file)
	whole = file.eachField(d, list, each)
	return whole, file.err
}

// valueReader fails after the longest value that is read. It remembers its error.
type valueReader struct {
	failingReader
	read, end int64 // bytes of the file: that were read, and up to the end of the value
}

func (r *valueReader) Read(p []byte) (n int, err error) {
	if r.read > r.end {
		r.err = &LimitError{"a part of the file", maxSourceValue, "bytes"}
		return 0, r.err
	}
	n, err = r.failingReader.Read(p)
	r.read += int64(n)
	return n, err
}

func (r *valueReader) eachField(d *json.Decoder, list string, each func(string, jsonValue) bool) (whole bool) {
	var value json.RawMessage
	decode := func() bool {
		value, r.end = nil, d.InputOffset()+maxSourceValue
		return d.Decode(&value) == nil
	}
	r.end = maxSourceValue
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return false
	}
	for d.More() {
		r.end = d.InputOffset() + maxSourceValue
		token, err := d.Token()
		name, _ := token.(string)
		if err != nil {
			return false
		}
		if name != list {
			if !decode() || !each(name, jsonValue(value)) {
				return false
			}
			continue
		}
		if open, err := d.Token(); err != nil || open != json.Delim('[') {
			return false
		}
		for d.More() {
			if !decode() || !each(name, jsonValue(value)) {
				return false
			}
		}
		if _, err := d.Token(); err != nil {
			return false
		}
	}
	if _, err := d.Token(); err != nil {
		return false
	}
	r.end = math.MaxInt64
	return !hasObject(io.MultiReader(d.Buffered(), r))
}

// hasObject reports whether an object may begin in a text. An error of r ends the text.
func hasObject(r io.Reader) bool {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		switch {
		case bytes.IndexByte(buf[:n], '{') >= 0:
			return true
		case err != nil:
			return false
		}
	}
}
