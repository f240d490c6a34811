package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
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
		return fmt.Errorf("sum %q is not 8 lower-case hex digits", string(text))
	}
	*s = sum
	return nil
}

func parseSum(text []byte) (s Sum, ok bool) {
	if len(text) != 8 {
		return 0, false
	}
	var all byte
	for _, c := range text {
		all |= nibble[c]
		s = s<<4 | Sum(nibble[c]&0xf)
	}
	return s, all <= 0xf
}

// nibble is what a lower-case hex digit stands for, and 0xff for all other
// characters.
var nibble = func() (of [256]byte) {
	for c := range of {
		of[c] = 0xff
	}
	for value, c := range []byte(hexDigits) {
		of[c] = byte(value)
	}
	return of
}()

const hexDigits = "0123456789abcdef"

func (s Sum) appendHex(dst []byte) []byte {
	digits := s.digits()
	return append(dst, digits[:]...)
}

func (s Sum) digits() (text [8]byte) {
	for i := range text {
		text[i] = hexDigits[s>>(28-4*i)&0xf]
	}
	return text
}

// chain is the sum of a line whose bytes up to and not including `,"sum"` are
// body, behind a line with the sum s.
func (s Sum) chain(body []byte) Sum {
	crc := crcOfZeros ^ crcOfPair[0][s>>24] ^ crcOfPair[1][s>>16&0xff] ^ crcOfPair[2][s>>8&0xff] ^ crcOfPair[3][s&0xff]
	return Sum(crc32.Update(crc, castagnoli, body))
}

// The CRC of 8 digits is that of "00000000" with a few bits turned for each two
// digits, whatever the others are: no need to go through them one by one.
var (
	crcOfZeros = crcOf(Sum(0))
	crcOfPair  = func() (turned [4][256]uint32) {
		for i := range turned {
			for value := range Sum(256) {
				turned[i][value] = crcOf(value<<(24-8*i)) ^ crcOfZeros
			}
		}
		return turned
	}()
)

func crcOf(s Sum) uint32 {
	digits := s.digits()
	return crc32.Checksum(digits[:], castagnoli)
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
	dst = appendTime(dst, e.Time.UTC())
	dst = append(dst, `","type":"`...)
	dst = appendType(dst, e.Type)
	dst = append(dst, `","data":`...)
	return append(dst, e.Data...)
}

// appendTime is AppendFormat for a time that is writable, only faster.
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

// putDigits fills text with the last digits of n.
func putDigits(text []byte, n int) {
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = '0' + byte(n%10)
		n /= 10
	}
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
	if !writable(r.Time) {
		return r, fmt.Errorf("time of %s: the year %d does not have four digits", r.Type, r.Time.Year())
	}
	r.Data = data
	return r, nil
}

// compactData is the payload without white space between its tokens. A payload
// of which somebody said that it is so cannot break the lines of the journal,
// even if that is wrong.
func (r Record) compactData() ([]byte, error) {
	if r.Compact && bytes.IndexByte(r.Data, '\n') < 0 {
		return r.Data, nil
	}
	return compactJSON(r.Data)
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
	c.Literal(`","type":`)
	e.Type = m.name(c.Plain())
	c.Literal(`,"data":`)
	data := c.Rest()
	if !ok || !c.OK() || len(data) < 2 || data[0] != '{' || data[len(data)-1] != '}' {
		return false
	}
	e.Data = data
	return true
}

// takeNumbers reads how a line begins, up to its time.
func (e *Event) takeNumbers(c *layout.Cursor) {
	c.Literal(`{"seq":`)
	e.Seq, e.Synced = uint64(c.Int()), 0
	if c.Has(`,"synced":`) {
		e.Synced = uint64(c.Int())
	}
	c.Literal(`,"time":"`)
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
