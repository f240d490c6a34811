package usage

import (
	"errors"
	"strings"

	"github.com/alecthomas/kong"
)

// Texts is a repeatable flag whose values may start with a dash and contain commas.
type Texts []string

// Decode implements kong.MapperValue.
func (t *Texts) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("expected a text")
	}
	*t = append(*t, token.String())
	return nil
}

// OptionalText is a flag whose value may be omitted: it follows an equals sign. The zero OptionalText is an unset flag.
type OptionalText struct {
	Set  bool
	Text string // "" if omitted
}

// Decode implements kong.MapperValue.
func (o *OptionalText) Decode(ctx *kong.DecodeContext) error {
	*o = OptionalText{Set: true}
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		o.Text = ctx.Scan.Pop().String()
	}
	return nil
}

// OptionalID is a flag whose value, the name of a session, may be omitted. The zero
// OptionalID is an unset flag.
type OptionalID struct {
	Set bool
	ID  string // "" if omitted
}

// Decode implements kong.MapperValue.
func (o *OptionalID) Decode(ctx *kong.DecodeContext) error {
	*o = OptionalID{Set: true}
	token := ctx.Scan.Peek()
	if token.IsEOL() || token.Type != kong.FlagValueToken && strings.HasPrefix(token.String(), "-") {
		return nil
	}
	o.ID = ctx.Scan.Pop().String()
	return nil
}
