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

// decode returns the value of a document, or the reason why it is not JSON. Numbers become
// float64: the validator computes with exact fractions and would hang or crash on 1e999999999.
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
		return nil, notJSON(document, errorOffset(document, syntax), syntax.Error())
	case errors.As(err, &number):
		text := strings.TrimPrefix(number.Value, "number ")
		start := bytes.LastIndex(document[:min(int(number.Offset), len(document))], []byte(text))
		return nil, notJSON(document, start, "the number "+shorten(text)+" is out of range")
	}
	return nil, &Problem{Path: "/", Message: "not valid JSON: " + err.Error()}
}

// errorOffset returns the index of the byte that a syntax error is about. err.Offset counts
// that byte, except at the end of the document.
func errorOffset(document []byte, err *json.SyntaxError) int {
	if strings.HasPrefix(err.Error(), "unexpected end") {
		return len(document)
	}
	return int(err.Offset) - 1
}

func notJSON(document []byte, index int, reason string) *Problem {
	line, column := position(document, index)
	return &Problem{Path: "/", Message: fmt.Sprintf("not valid JSON: line %d, column %d: %s", line, column, reason)}
}

// position returns the line and column of a byte as editors count them, from 1.
func position(document []byte, index int) (line, column int) {
	before := document[:min(max(index, 0), len(document))]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[lineStart:]) + 1
}
