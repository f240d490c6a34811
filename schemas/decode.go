package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// decode returns the value of a document, or why it has none. Numbers become float64: the
// validator works with exact fractions, and 1e999999999 would keep it busy, or crash it.
func decode(document []byte) (any, *Problem) {
	if bytes.HasPrefix(document, byteOrderMark) {
		return nil, notJSON(document, 0, "it begins with a byte order mark; save it as UTF-8 without one")
	}
	var value any
	err := json.Unmarshal(document, &value)
	if err == nil {
		return value, nil
	}
	var syntax *json.SyntaxError
	var number *json.UnmarshalTypeError
	switch {
	case len(bytes.TrimSpace(document)) == 0:
		return nil, notJSON(document, 0, "it is empty")
	case errors.As(err, &syntax):
		return nil, notJSON(document, faultyByte(document, syntax), syntax.Error())
	case errors.As(err, &number):
		text := strings.TrimPrefix(number.Value, "number ")
		start := bytes.LastIndex(document[:min(int(number.Offset), len(document))], []byte(text))
		return nil, notJSON(document, start, "the number "+shorten(text)+" is out of range")
	}
	return nil, &Problem{Path: "/", Message: "not valid JSON: " + err.Error()}
}

// faultyByte is the index of the byte that a syntax error is about. The decoder counts that
// byte as read, unless what it missed lies behind the end.
func faultyByte(document []byte, err *json.SyntaxError) int {
	if strings.HasPrefix(err.Error(), "unexpected end") {
		return len(document)
	}
	return int(err.Offset) - 1
}

func notJSON(document []byte, index int, why string) *Problem {
	line, column := position(document, index)
	return &Problem{Path: "/", Message: fmt.Sprintf("not valid JSON: line %d, column %d: %s", line, column, why)}
}

// position counts lines and characters as editors do, both from 1.
func position(document []byte, index int) (line, column int) {
	before := document[:min(max(index, 0), len(document))]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[lineStart:]) + 1
}
