package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/layout"
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
	if !validType(r.Type) {
		return r, fmt.Errorf("type %q is not noun.verb in lower case", r.Type)
	}
	data, err := r.compactData()
	if err != nil {
		return r, fmt.Errorf("data of %s: %w", r.Type, err)
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

// compactData returns the payload without white space between its tokens. A payload
// that is declared compact cannot break the lines of the journal, even if the
// declaration is wrong.
func (r Record) compactData() ([]byte, error) {
	if r.Compact && bytes.IndexByte(r.Data, '\n') < 0 {
		return r.Data, nil
	}
	return compactJSON(r.Data)
}

// hasFourDigitYear reports whether a time in UTC can be written.
func hasFourDigitYear(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }

// envelopeMax bounds the bytes of a line other than its data and its type.
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

// Why a line is invalid.
var (
	errNoTrailer = errors.New("it does not end in a checksum")
	errSum       = errors.New("checksum mismatch")
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
	err = e.decode(line, prev, nil)
	return e, err
}

func (e *Event) decode(line []byte, prev Sum, m *memory) error {
	body, sum, err := checkSum(line, prev)
	if err != nil {
		return err
	}
	return e.decodeLayout(line, body, sum, m)
}

// decodeNumbers is decode for who wants to know only the numbers of the event
// and its sum. What else the line says is not looked at when it begins as encode
// begins it.
func (e *Event) decodeNumbers(line []byte, prev Sum) error {
	body, sum, err := checkSum(line, prev)
	if err != nil {
		return err
	}
	c := layout.At(body)
	if e.takeNumbers(&c); !c.OK() {
		return e.decodeLayout(line, body, sum, nil)
	}
	e.Sum = sum
	return nil
}

// checkSum returns the sum of a line behind one with the sum prev, and what
// stands before it.
func checkSum(line []byte, prev Sum) (body []byte, sum Sum, err error) {
	if body, sum, err = decodeSum(line); err != nil {
		return nil, 0, err
	}
	if prev.chain(body) != sum {
		return nil, 0, errSum
	}
	return body, sum, nil
}

// decodeLayout reads what a line says, whatever its sum.
func (e *Event) decodeLayout(line, body []byte, sum Sum, m *memory) error {
	if !e.decodeBody(body, m) {
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
func (e *Event) decodeBody(body []byte, m *memory) (ok bool) {
	c := layout.At(body)
	e.takeNumbers(&c)
	e.Time, ok = m.time(c.Take(len(timeLayout)))
	c.Expect(`","type":`)
	e.Type = m.name(c.Plain())
	c.Expect(`,"data":`)
	data := c.Rest()
	if !ok || !c.OK() || len(data) < 2 || data[0] != '{' || data[len(data)-1] != '}' {
		return false
	}
	e.Data = data
	return true
}

// takeNumbers reads how a line begins, up to its time.
func (e *Event) takeNumbers(c *layout.Cursor) {
	c.Expect(`{"seq":`)
	e.Seq, e.Synced = c.Uint(), 0
	if c.Accept(`,"synced":`) {
		e.Synced = c.Uint()
	}
	c.Expect(`,"time":"`)
}

// memory is what a reader remembers of the lines before, because the next one
// mostly says it again. The nil memory remembers nothing.
type memory struct {
	types    map[string]string
	date     [dateLen]byte
	midnight time.Time // of that date
}

// maxTypes is how many types are remembered: many more than there are.
const maxTypes = 100

func newMemory() *memory { return &memory{types: map[string]string{}} }

// name is the text as a string.
func (m *memory) name(text []byte) string {
	if m == nil {
		return string(text)
	}
	if known, ok := m.types[string(text)]; ok {
		return known
	}
	name := string(text)
	if len(m.types) < maxTypes {
		m.types[name] = name
	}
	return name
}

// time reads a time in the layout of a line.
func (m *memory) time(text []byte) (t time.Time, ok bool) {
	if len(text) != len(timeLayout) || text[13] != ':' || text[16] != ':' || text[19] != '.' || text[26] != 'Z' {
		return t, false
	}
	hour, minute, second := two(text[11:]), two(text[14:]), two(text[17:])
	micros := two(text[20:])*10_000 + two(text[22:])*100 + two(text[24:])
	if hour > 23 || minute > 59 || second > 59 || micros > 999_999 {
		return t, false
	}
	midnight, ok := m.day([dateLen]byte(text))
	clock := time.Duration(hour*3600+minute*60+second)*time.Second + time.Duration(micros)*time.Microsecond
	return midnight.Add(clock), ok
}

// day is when the date begins.
func (m *memory) day(date [dateLen]byte) (midnight time.Time, ok bool) {
	if m != nil && m.date == date && date[0] != 0 {
		return m.midnight, true
	}
	midnight, err := time.Parse(timeLayout[:dateLen], string(date[:]))
	if m != nil && err == nil {
		m.date, m.midnight = date, midnight
	}
	return midnight, err == nil
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

// decodeStart reads the numbers of a line in the layout of a writer, from its
// first bytes.
func decodeStart(line []byte, sum Sum) (Event, bool) {
	c := layout.At(line)
	e := Event{Sum: sum}
	e.takeNumbers(&c)
	return e, c.OK() && e.Seq > 0
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
	if err != nil || stored.Seq == nil || stored.Type == "" || len(stored.Data) == 0 || stored.Data[0] != '{' || !hasFourDigitYear(at) {
		return Event{}, errLayout
	}
	return Event{Seq: *stored.Seq, Synced: stored.Synced, Time: at, Type: stored.Type, Data: stored.Data}, nil
}
