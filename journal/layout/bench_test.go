package layout

import (
	"bytes"
	"strings"
	"testing"
)

// BenchmarkCursor is what it costs to look through a text, and to read it.
func BenchmarkCursor(b *testing.B) {
	for _, text := range []struct{ name, of string }{
		{"plain", "the kettle does not boil because nothing was changed in coordinator, and the test fails. "},
		{"escaped", `the kettle does not\nboil, \"größer\" than it is — at all:\n\tx := f(y)\n\n`},
	} {
		long := []byte(`{"text":"` + strings.Repeat(text.of, 20_000/len(text.of)) + `"}`)
		b.Run("Glance/"+text.name, func(b *testing.B) {
			b.SetBytes(int64(len(long)))
			for b.Loop() {
				c := Glance(long)
				if c.Raw(); !c.End() {
					b.Fatal("gave up")
				}
			}
		})
		b.Run("String/"+text.name, func(b *testing.B) {
			b.SetBytes(int64(len(long)))
			b.ReportAllocs()
			for b.Loop() {
				c := At(bytes.TrimSuffix(long[len(`{"text":`):], []byte("}")))
				if c.String() == "" || !c.End() {
					b.Fatal("gave up")
				}
			}
		})
	}
}
