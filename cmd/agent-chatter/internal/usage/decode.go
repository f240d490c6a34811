package usage

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/alecthomas/kong"
)

// Decoders returns the options with which kong reads the values of flags and arguments.
func Decoders() []kong.Option {
	return []kong.Option{
		kong.KindMapper(reflect.Int, kong.MapperFunc(decodeInt)),
		kong.KindMapper(reflect.Float64, kong.MapperFunc(decodeFloat)),
		kong.KindMapper(reflect.String, kong.MapperFunc(decodeString)),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(decodeDuration)),
		kong.TypeMapper(reflect.TypeFor[home.Days](), kong.MapperFunc(decodeDays)),
		kong.TypeMapper(reflect.TypeFor[*home.Days](), kong.MapperFunc(decodeDays)),
	}
}

var errNoValue = errors.New("a value is missing")

func decodeString(ctx *kong.DecodeContext, target reflect.Value) error {
	if !ctx.Scan.Peek().IsValue() {
		return errNoValue
	}
	target.SetString(ctx.Scan.Pop().String())
	return nil
}

// decodeInt takes -1 for a number and not for a flag, so that the command can say what it
// accepts.
func decodeInt(ctx *kong.DecodeContext, target reflect.Value) error {
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

func decodeFloat(ctx *kong.DecodeContext, target reflect.Value) error {
	text, err := value(ctx)
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", text)
	}
	target.SetFloat(f)
	return nil
}

// decodeDays also reads into a pointer.
func decodeDays(ctx *kong.DecodeContext, target reflect.Value) error {
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	text, err := value(ctx)
	if err != nil {
		return err
	}
	return target.Addr().Interface().(*home.Days).UnmarshalText([]byte(text))
}

func decodeDuration(ctx *kong.DecodeContext, target reflect.Value) error {
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
