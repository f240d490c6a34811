package interchange

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// timeLayouts are the forms of a time as a text. One without a zone is in UTC.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999",
}

// parseTime parses a time that a journal can hold: its year in UTC has four
// digits.
func parseTime(text string) (t time.Time, err error) {
	for i, layout := range timeLayouts {
		parsed, failure := time.Parse(layout, text)
		if failure == nil {
			return inRange(parsed, text)
		}
		if i == 0 {
			err = failure
		}
	}
	return t, err
}

func inRange(t time.Time, text string) (time.Time, error) {
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		return time.Time{}, fmt.Errorf("%s is in the year %d in UTC", text, year)
	}
	return t, nil
}

// time returns the time that a text or a number is; the zero time if it is none.
func (v jsonValue) time() time.Time {
	text := string(v)
	if v.isString() {
		text = string(v.plain())
		if t, err := parseTime(text); err == nil {
			return t
		}
	}
	return numericTime(text)
}

// Numbers below these are seconds or milliseconds since 1970, others microseconds.
const (
	firstMilliseconds = 1e11 // March 1973; as seconds, the year 5138
	firstMicroseconds = 1e14 // March 1973; as milliseconds, the year 5138
)

// numericTime returns the time of a number since 1970; the zero time if it is not positive or no number.
func numericTime(text string) (t time.Time) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0) {
		return t
	}
	switch {
	case n < firstMilliseconds:
		t = time.UnixMicro(int64(n * 1e6))
	case n < firstMicroseconds:
		t = time.UnixMicro(int64(n * 1e3))
	case n < 1e18:
		t = time.UnixMicro(int64(n))
	}
	t, _ = inRange(t.UTC(), text)
	return t
}

// timestamp is a time in a transcript; an invalid one is the zero time.
type timestamp struct{ time.Time }

// UnmarshalJSON returns no error.
func (i *timestamp) UnmarshalJSON(data []byte) error {
	i.Time = jsonValue(data).time()
	return nil
}

var _ json.Unmarshaler = (*timestamp)(nil)
