package app

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/alecthomas/kong"
)

// decodeNumber reads the value of a flag. One below zero is not mistaken for
// another flag: the command says what it takes.
func DecodeNumber(ctx *kong.DecodeContext, target reflect.Value) error {
	text := popped(ctx)
	n, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("%q is no number", text)
	}
	target.SetInt(int64(n))
	return nil
}

// decodeDays reads a span of time, into what a pointer points to as well.
func DecodeDays(ctx *kong.DecodeContext, target reflect.Value) error {
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	return target.Addr().Interface().(*Days).UnmarshalText([]byte(popped(ctx)))
}

// popped is the next word of the command line, whatever it looks like; "" when
// there is none.
func popped(ctx *kong.DecodeContext) string {
	if ctx.Scan.Peek().IsEOL() {
		return ""
	}
	return ctx.Scan.Pop().String()
}
