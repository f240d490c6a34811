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
	case errors.As(err, &number):
		text := strings.TrimPrefix(number.Value, "number ")
		start := bytes.LastIndex(document[:min(int(number.Offset), len(document))], []byte(text))
		return nil, notJSON(document, start, "the number "+shorten(text)+" is out of range")
	}
	index := len(document)
	if errors.As(err, &syntax) && !strings.HasPrefix(syntax.Error(), "unexpected end") {
		index = int(syntax.Offset) - 1 // Offset counts the byte that the error is about, except at the end
	}
	return nil, notJSON(document, index, err.Error())
}

// notJSON reports a syntax error at a byte, with its line and column as editors count them,
// from 1.
func notJSON(document []byte, index int, reason string) *Problem {
	before := document[:min(max(index, 0), len(document))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return &Problem{Path: "/", Message: fmt.Sprintf("not valid JSON: line %d, column %d: %s", line, column, reason)}
}
