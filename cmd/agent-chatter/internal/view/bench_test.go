package view

import (
	"strings"
	"testing"
)

func BenchmarkStream(b *testing.B) {
	for name, text := range map[string]string{
		"a word": strings.Repeat("w", 1<<20), "prose": strings.Repeat("Some *text* with `code` in a sentence.\n\n", 25_000),
		"code": "```go\n" + strings.Repeat("\tfor i := range n { sum += f(i, \"x\") }\n", 25_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				stream(text)
			}
		})
	}
}
