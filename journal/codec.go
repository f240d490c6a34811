package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/layout"
)

const (
	// DefaultMaxLine is the default limit of a line, in bytes, its newline included.
	DefaultMaxLine = 64 << 20
	// MinMaxLine is the smallest limit, into which any TypeRecovered event fits.
	MinMaxLine = 2 << 10

	sumKey     = `,"sum":"`
	trailerLen = len(sumKey) + 8 + len(`"}`) // the 18 bytes at the end of every line
	timeLayout = "2006-01-02T15:04:05.000000Z"
	dateLen    = len("2006-01-02T")
)

// encode appends the line of e to dst, with its newline, and sets e.Sum. prev is the
// sum of the previous line.
func encode(dst []byte, e *Event, prev Sum) []byte {
	start := len(dst)
	dst = appendBody(dst, *e)
	e.Sum = prev.chain(dst[start:])
	return append(appendTrailer(dst, e.Sum), '\n')
}

func appendBody(dst []byte, e Event) []byte {
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendUint(dst, e.Seq, 10)
	if e.Synced > 0 {
		dst = append(dst, `,"synced":`...)
		dst = strconv.AppendUint(dst, e.Synced, 10)
	}
	dst = append(dst, `,"time":"`...)
	dst = appendTime(dst, e.Time.UTC())
	dst = append(dst, `","type":"`...)
	dst = appendType(dst, e.Type)
	dst = append(dst, `","data":`...)
	return append(dst, e.Data...)
}

// appendTime is a faster AppendFormat for a time with a year of four digits.
func appendTime(dst []byte, t time.Time) []byte {
	text := [...]byte{4: '-', 7: '-', 10: 'T', 13: ':', 16: ':', 19: '.', 26: 'Z'}
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	putDigits(text[0:4], year)
	putDigits(text[5:7], int(month))
	putDigits(text[8:10], day)
	putDigits(text[11:13], hour)
	putDigits(text[14:16], minute)
	putDigits(text[17:19], second)
	putDigits(text[20:26], t.Nanosecond()/1000)
	return append(dst, text[:]...)
}

// putDigits fills text with the last decimal digits of n.
func putDigits(text []byte, n int) {
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = '0' + byte(n%10)
		n /= 10
	}
}

// appendType appends a type, escaped. Only types that another program wrote need
// escapes.
func appendType(dst []byte, t string) []byte {
	for i := range len(t) {
		switch c := t[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func appendTrailer(dst []byte, s Sum) []byte {
	dst = append(dst, sumKey...)
	dst = s.appendHex(dst)
	return append(dst, `"}`...)
}

// normalize checks a record and returns it with compact Data and a time in UTC. It
// shares Data that is already compact.
func (r Record) normalize(now time.Time, maxLine int) (Record, error) {
	noun, verb, ok := strings.Cut(r.Type, ".")
	if !ok || !isLowerCase(noun) || !isLowerCase(verb) {
		return r, fmt.Errorf("type %q is not noun.verb in lower case", r.Type)
	}
	data := r.Data
	// Data that is wrongly declared compact must not break the lines of the journal.
	if !r.Compact || bytes.IndexByte(data, '\n') >= 0 {
		var err error
		if data, err = compactJSON(data); err != nil {
			return r, fmt.Errorf("data of %s: %w", r.Type, err)
		}
	}
	if len(data) == 0 || data[0] != '{' || data[len(data)-1] != '}' {
		return r, fmt.Errorf("data of %s is not a JSON object", r.Type)
	}
	if bytes := len(data) + envelopeMax + len(r.Type); bytes > maxLine {
		return r, &TooLongError{Type: r.Type, Bytes: bytes, Limit: maxLine}
	}
	if r.Time.IsZero() {
		r.Time = now
	}
	r.Time = r.Time.UTC().Truncate(time.Microsecond)
	if !hasFourDigitYear(r.Time) {
		return r, fmt.Errorf("time of %s: the year %d does not have four digits", r.Type, r.Time.Year())
	}
	r.Data = data
	return r, nil
}

// hasFourDigitYear reports whether a time in UTC can be written.
func hasFourDigitYear(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }

// envelopeMax bounds the bytes of a line other than its data and its type.
const envelopeMax = 160

func isLowerCase(text string) bool {
	for i := range len(text) {
		if text[i] < 'a' || text[i] > 'z' {
			return false
		}
	}
	return text != ""
}

// Why a line is invalid.
var (
	errNoTrailer = errors.New("it does not end in a checksum")
	errSum       = errors.New("checksum mismatch")
	errLayout    = errors.New("it is not a JSON object with seq, time, type and data")
)

// decodeSum splits a line into its body and the sum, which is at a fixed distance from
// the end.
func decodeSum(line []byte) (body []byte, sum Sum, err error) {
	if len(line) < trailerLen {
		return nil, 0, errNoTrailer
	}
	body, trailer := line[:len(line)-trailerLen], line[len(line)-trailerLen:]
	if string(trailer[:len(sumKey)]) != sumKey || string(trailer[len(sumKey)+8:]) != `"}` {
		return nil, 0, errNoTrailer
	}
	sum, ok := parseSum(trailer[len(sumKey) : len(sumKey)+8])
	if !ok {
		return nil, 0, errNoTrailer
	}
	return body, sum, nil
}

// decode decodes a line without its newline. prev is the sum of the previous line. The
// event's Data aliases the line.
func decode(line []byte, prev Sum) (e Event, err error) {
	err = e.decode(line, prev, nil)
	return e, err
}

func (e *Event) decode(line []byte, prev Sum, cache *decodeCache) error {
	body, sum, err := checkSum(line, prev)
	if err != nil {
		return err
	}
	return e.decodeFields(line, body, sum, cache)
}

// decodeSeq decodes only Seq, Synced and Sum. If the line starts as encode writes it,
// the rest is covered by the sum and not parsed.
func (e *Event) decodeSeq(line []byte, prev Sum) error {
	body, sum, err := checkSum(line, prev)
	if err != nil {
		return err
	}
	c := layout.At(body)
	if e.decodeHead(&c); !c.OK() {
		return e.decodeFields(line, body, sum, nil)
	}
	e.Sum = sum
	return nil
}

// checkSum verifies the sum of a line, given that of the previous line, and returns it and
// the bytes that it covers.
func checkSum(line []byte, prev Sum) (body []byte, sum Sum, err error) {
	if body, sum, err = decodeSum(line); err != nil {
		return nil, 0, err
	}
	if prev.chain(body) != sum {
		return nil, 0, errSum
	}
	return body, sum, nil
}

// decodeFields decodes a line whose sum was checked, in any layout.
func (e *Event) decodeFields(line, body []byte, sum Sum, cache *decodeCache) error {
	if !e.decodeBody(body, cache) {
		var err error
		if *e, err = decodeForeign(line); err != nil {
			return err
		}
	}
	e.Sum = sum
	return nil
}

// decodeBody decodes the layout that encode writes. It reports false for any other,
// which may still be valid JSON.
func (e *Event) decodeBody(body []byte, cache *decodeCache) (ok bool) {
	c := layout.At(body)
	e.decodeHead(&c)
	e.Time, ok = cache.time(c.Take(len(timeLayout)))
	c.Expect(`","type":`)
	e.Type = cache.eventType(c.Plain())
	c.Expect(`,"data":`)
	data := c.Rest()
	if !ok || !c.OK() || len(data) < 2 || data[0] != '{' || data[len(data)-1] != '}' {
		return false
	}
	e.Data = data
	return true
}

// decodeHead decodes the start of a line, up to its time.
func (e *Event) decodeHead(c *layout.Cursor) {
	c.Expect(`{"seq":`)
	e.Seq, e.Synced = c.Uint(), 0
	if c.Accept(`,"synced":`) {
		e.Synced = c.Uint()
	}
	c.Expect(`,"time":"`)
}

// decodeCache holds values of earlier lines, which most lines repeat. A nil
// cache is empty and stays so.
type decodeCache struct {
	types    map[string]string
	date     [dateLen]byte
	midnight time.Time // of that date
}

// maxTypes bounds decodeCache.types: many more than there are.
const maxTypes = 100

// eventType returns text as a string, the same one for the same text.
func (c *decodeCache) eventType(text []byte) string {
	if c == nil {
		return string(text)
	}
	if known, ok := c.types[string(text)]; ok {
		return known
	}
	name := string(text)
	if len(c.types) < maxTypes {
		c.types[name] = name
	}
	return name
}

// time parses a time in the layout that encode writes.
func (c *decodeCache) time(text []byte) (t time.Time, ok bool) {
	if len(text) != len(timeLayout) || text[13] != ':' || text[16] != ':' || text[19] != '.' || text[26] != 'Z' {
		return t, false
	}
	hour, minute, second := twoDigits(text[11:]), twoDigits(text[14:]), twoDigits(text[17:])
	micros := twoDigits(text[20:])*10_000 + twoDigits(text[22:])*100 + twoDigits(text[24:])
	if hour > 23 || minute > 59 || second > 59 || micros > 999_999 {
		return t, false
	}
	midnight, ok := c.day([dateLen]byte(text))
	clock := time.Duration(hour*3600+minute*60+second)*time.Second + time.Duration(micros)*time.Microsecond
	return midnight.Add(clock), ok
}

// day returns the start of a date, in UTC.
func (c *decodeCache) day(date [dateLen]byte) (midnight time.Time, ok bool) {
	if c != nil && c.date == date && date[0] != 0 {
		return c.midnight, true
	}
	midnight, err := time.Parse(timeLayout[:dateLen], string(date[:]))
	if c != nil && err == nil {
		c.date, c.midnight = date, midnight
	}
	return midnight, err == nil
}

// twoDigits parses two ASCII digits. It returns a number out of any range if they are not
// digits.
func twoDigits(text []byte) int {
	tens, ones := text[0]-'0', text[1]-'0'
	if tens > 9 || ones > 9 {
		return 1 << 24
	}
	return int(tens)*10 + int(ones)
}

// decodeStart decodes Seq and Synced from the first bytes of a line that encode wrote.
func decodeStart(line []byte, sum Sum) (Event, bool) {
	c := layout.At(line)
	e := Event{Sum: sum}
	e.decodeHead(&c)
	return e, c.OK() && e.Seq > 0
}

// decodeForeign decodes a line in any layout, such as an editor or another program
// writes.
func decodeForeign(line []byte) (Event, error) {
	var stored struct {
		Seq    *uint64         `json:"seq"`
		Synced uint64          `json:"synced"`
		Time   time.Time       `json:"time"`
		Type   string          `json:"type"`
		Data   json.RawMessage `json:"data"`
	}
	err := json.Unmarshal(line, &stored)
	at := stored.Time.UTC()
	isObject := len(stored.Data) > 0 && stored.Data[0] == '{'
	if err != nil || stored.Seq == nil || stored.Type == "" || !isObject || !hasFourDigitYear(at) {
		return Event{}, errLayout
	}
	return Event{Seq: *stored.Seq, Synced: stored.Synced, Time: at, Type: stored.Type, Data: stored.Data}, nil
}
