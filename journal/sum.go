package journal

import (
	"fmt"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the CRC-32C of a line, chained to the sum of the line before. It is
// written as 8 lower-case hex digits. The zero Sum precedes the first line.
type Sum uint32

// String returns the 8 hex digits.
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

const hexDigits = "0123456789abcdef"

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
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[s>>shift&0xf])
	}
	return dst
}

// crc returns the CRC-32C of the 8 hex digits, with which the sum of the next
// line starts. Package crc32 would need the digits in memory that escapes.
func (s Sum) crc() uint32 {
	crc := ^uint32(0)
	for shift := 28; shift >= 0; shift -= 4 {
		crc = castagnoli[byte(crc)^hexDigits[s>>shift&0xf]] ^ crc>>8
	}
	return ^crc
}

// chain returns the sum of a line that follows a line with the sum s. body is
// the line up to and not including `,"sum"`.
func (s Sum) chain(body []byte) Sum { return Sum(crc32.Update(s.crc(), castagnoli, body)) }
