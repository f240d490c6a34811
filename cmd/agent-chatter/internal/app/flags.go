package app

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/alecthomas/kong"
)

var errNoValue = errors.New("a value is missing")

// DecodeString reads the value of a flag or an argument for kong.
func DecodeString(ctx *kong.DecodeContext, target reflect.Value) error {
	if !ctx.Scan.Peek().IsValue() {
		return errNoValue
	}
	target.SetString(ctx.Scan.Pop().String())
	return nil
}

// DecodeNumber reads an integer for kong. It takes -1 for a number and not for a flag,
// so that the command can say what it accepts.
func DecodeNumber(ctx *kong.DecodeContext, target reflect.Value) error {
	text, err := value(ctx)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("%q is not an integer", text)
	}
	target.SetInt(int64(n))
	return nil
}

// DecodeDays reads Days for kong, also into a pointer.
func DecodeDays(ctx *kong.DecodeContext, target reflect.Value) error {
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	text, err := value(ctx)
	if err != nil {
		return err
	}
	return target.Addr().Interface().(*Days).UnmarshalText([]byte(text))
}

// DecodeDuration reads a time.Duration for kong.
func DecodeDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	text, err := value(ctx)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("invalid duration %q; try 60s", text)
	}
	target.SetInt(int64(d))
	return nil
}

// value returns the next word of the command line, whatever it looks like.
func value(ctx *kong.DecodeContext) (string, error) {
	if ctx.Scan.Peek().IsEOL() {
		return "", errNoValue
	}
	return ctx.Scan.Pop().String(), nil
}
