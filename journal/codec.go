package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"
)

const (
	// DefaultMaxLine is the longest line that is written or read, in bytes,
	// its newline included.
	DefaultMaxLine = 64 << 20
	// MinMaxLine is the smallest limit: a TypeRecovered event always fits.
	MinMaxLine = 2 << 10

	sumKey     = `,"sum":"`
	trailerLen = len(sumKey) + 8 + len(`"}`) // the 18 bytes that end every line
	timeLayout = "2006-01-02T15:04:05.000000Z"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the CRC-32C of a line, chained to the sum of the line before. It is
// written as 8 lower-case hex digits. The zero Sum stands before the first line.
type Sum uint32

func (s Sum) String() string { return string(s.appendHex(nil)) }

// MarshalText writes the 8 hex digits.
func (s Sum) MarshalText() ([]byte, error) { return s.appendHex(nil), nil }

// UnmarshalText reads 8 lower-case hex digits and nothing else.
func (s *Sum) UnmarshalText(text []byte) error {
	sum, ok := parseSum(text)
	if !ok {
		return fmt.Errorf("sum %q is not 8 lower-case hex digits", text)
	}
	*s = sum
	return nil
}

func parseSum(text []byte) (s Sum, ok bool) {
	if len(text) != 8 {
		return 0, false
	}
	for _, c := range text {
		switch {
		case '0' <= c && c <= '9':
			s = s<<4 | Sum(c-'0')
		case 'a' <= c && c <= 'f':
			s = s<<4 | Sum(c-'a'+10)
		default:
			return 0, false
		}
	}
	return s, true
}

func (s Sum) appendHex(dst []byte) []byte {
	digits := s.digits()
	return append(dst, digits[:]...)
}

func (s Sum) digits() (text [8]byte) {
	for i := range text {
		text[i] = "0123456789abcdef"[s>>(28-4*i)&0xf]
	}
	return text
}

// chain is the sum of a line whose bytes up to and not including `,"sum"` are
// body, behind a line with the sum s.
func (s Sum) chain(body []byte) Sum {
	digits := s.digits()
	crc := crc32.Update(0, castagnoli, digits[:])
	return Sum(crc32.Update(crc, castagnoli, body))
}

// encode appends the line of e behind a line with the sum prev to dst, with
// its newline, and sets e.Sum.
func encode(dst []byte, e *Event, prev Sum) []byte {
	start := len(dst)
	dst = appendBody(dst, *e)
	e.Sum = prev.chain(dst[start:])
	return append(appendTrailer(dst, e.Sum), '\n')
}

func appendLine(dst []byte, e Event) []byte {
	return appendTrailer(appendBody(dst, e), e.Sum)
}

func appendBody(dst []byte, e Event) []byte {
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendUint(dst, e.Seq, 10)
	if e.Synced > 0 {
		dst = append(dst, `,"synced":`...)
		dst = strconv.AppendUint(dst, e.Synced, 10)
	}
	dst = append(dst, `,"time":"`...)
	dst = e.Time.UTC().AppendFormat(dst, timeLayout)
	dst = append(dst, `","type":"`...)
	dst = appendType(dst, e.Type)
	dst = append(dst, `","data":`...)
	return append(dst, e.Data...)
}

// appendType escapes what another program may have put into a type; ours need
// no escapes.
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

// compactRecord checks a record and returns it as it will be written, with the
// same Data when that was compact.
func compactRecord(r Record, now time.Time, maxLine int) (Record, error) {
	if !validType(r.Type) {
		return r, fmt.Errorf("type %q is not noun.verb in lower case", r.Type)
	}
	data, err := compactJSON(r.Data)
	if err != nil {
		return r, fmt.Errorf("data of %s: %w", r.Type, err)
	}
	if len(data) == 0 || data[0] != '{' {
		return r, fmt.Errorf("data of %s is not a JSON object", r.Type)
	}
	if bytes := len(data) + envelopeMax + len(r.Type); bytes > maxLine {
		return r, &TooLongError{Type: r.Type, Bytes: bytes, Limit: maxLine}
	}
	if r.Time.IsZero() {
		r.Time = now
	}
	r.Time = r.Time.UTC().Truncate(time.Microsecond)
	if !writable(r.Time) {
		return r, fmt.Errorf("time of %s: the year %d does not have four digits", r.Type, r.Time.Year())
	}
	r.Data = data
	return r, nil
}

// writable reports whether a time in UTC has a year of four digits.
func writable(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }

// envelopeMax bounds what a line adds to its data and its type.
const envelopeMax = 160

func validType(t string) bool {
	noun, verb, ok := bytes.Cut([]byte(t), []byte("."))
	return ok && lowerCase(noun) && lowerCase(verb)
}

func lowerCase(b []byte) bool {
	for _, c := range b {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return len(b) > 0
}

// Why a line does not check.
var (
	errNoTrailer = errors.New("it does not end in a sum")
	errSum       = errors.New("its sum does not match the bytes and the line before")
	errLayout    = errors.New("it is not a JSON object with seq, time, type and data")
)

// decodeSum finds the sum at the end of a line, never by searching.
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

// decode reads a line, without its newline, that stands behind one with the
// sum prev. The event's Data aliases the line.
func decode(line []byte, prev Sum) (e Event, err error) {
	err = e.decode(line, prev)
	return e, err
}

func (e *Event) decode(line []byte, prev Sum) error {
	body, sum, err := decodeSum(line)
	if err != nil {
		return err
	}
	if prev.chain(body) != sum {
		return errSum
	}
	return e.decodeLayout(line, body, sum)
}

// decodeLayout reads what a line says, whatever its sum.
func (e *Event) decodeLayout(line, body []byte, sum Sum) error {
	if !e.decodeBody(body) {
		var err error
		if *e, err = decodeForeign(line); err != nil {
			return err
		}
	}
	e.Sum = sum
	return nil
}

// decodeBody reads the layout that encode writes. It reports false for any
// other, which may be valid JSON all the same.
func (e *Event) decodeBody(body []byte) (ok bool) {
	c := cursor{rest: body, ok: true}
	c.literal(`{"seq":`)
	e.Seq = c.number()
	e.Synced = 0
	if c.has(`,"synced":`) {
		e.Synced = c.number()
	}
	c.literal(`,"time":"`)
	e.Time = c.time()
	c.literal(`","type":"`)
	e.Type = c.plainString()
	c.literal(`","data":{`)
	if !c.ok || len(c.rest) == 0 || c.rest[len(c.rest)-1] != '}' {
		return false
	}
	e.Data = json.RawMessage(body[len(body)-len(c.rest)-1:])
	return true
}

// cursor reads a known layout from left to right; ok is false from the first
// surprise on.
type cursor struct {
	rest []byte
	ok   bool
}

func (c *cursor) literal(s string) {
	if !c.has(s) {
		c.ok = false
	}
}

func (c *cursor) has(s string) bool {
	if len(c.rest) < len(s) || string(c.rest[:len(s)]) != s {
		return false
	}
	c.rest = c.rest[len(s):]
	return true
}

func (c *cursor) number() (n uint64) {
	i := 0
	for ; i < len(c.rest) && i < 19 && c.rest[i] >= '0' && c.rest[i] <= '9'; i++ {
		n = n*10 + uint64(c.rest[i]-'0')
	}
	if i == 0 {
		c.ok = false
	}
	c.rest = c.rest[i:]
	return n
}

func (c *cursor) time() time.Time {
	if len(c.rest) < len(timeLayout) {
		c.ok = false
		return time.Time{}
	}
	text := c.rest[:len(timeLayout)]
	c.rest = c.rest[len(timeLayout):]
	t, ok := plainTime(text)
	if !ok {
		var err error
		t, err = time.Parse(timeLayout, string(text))
		c.ok = c.ok && err == nil
	}
	return t
}

// plainTime reads a time in the layout of a line as package time does, only
// faster. Days that not every month has it leaves to that.
func plainTime(text []byte) (t time.Time, ok bool) {
	text = text[:len(timeLayout)]
	if text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' || text[19] != '.' || text[26] != 'Z' {
		return t, false
	}
	year, month, day := two(text[0:])*100+two(text[2:]), two(text[5:]), two(text[8:])
	hour, minute, second := two(text[11:]), two(text[14:]), two(text[17:])
	micros := two(text[20:])*10_000 + two(text[22:])*100 + two(text[24:])
	if year > 9999 || month < 1 || month > 12 || day < 1 || day > 28 || hour > 23 || minute > 59 || second > 59 || micros > 999_999 {
		return t, false
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, micros*1000, time.UTC), true
}

// two is the number that two digits are, and too great for any use when they
// are none.
func two(text []byte) int {
	tens, ones := text[0]-'0', text[1]-'0'
	if tens > 9 || ones > 9 {
		return 1 << 24
	}
	return int(tens)*10 + int(ones)
}

func (c *cursor) plainString() string {
	end := plain(c.rest)
	if end == len(c.rest) || c.rest[end] != '"' {
		c.ok = false
		return ""
	}
	s := string(c.rest[:end])
	c.rest = c.rest[end:]
	return s
}

// decodeForeign reads any valid JSON layout of a line, such as an editor or
// another program leaves.
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
	if err != nil || stored.Seq == nil || stored.Type == "" || len(stored.Data) == 0 || stored.Data[0] != '{' || !writable(at) {
		return Event{}, errLayout
	}
	return Event{Seq: *stored.Seq, Synced: stored.Synced, Time: at, Type: stored.Type, Data: stored.Data}, nil
}
