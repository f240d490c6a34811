package tty

import (
	"io"
	"strconv"
	"strings"
)

// AskBackground asks the terminal for the colour of its background (OSC 11). The answer, if there is one, is a
// [Background].
func (s *Screen) AskBackground() error {
	_, err := io.WriteString(s.out, "\x1b]11;?\x1b\\")
	return err
}

// isLight reports whether the text of a command is that of a light background, such as ]11;rgb:ffff/ffff/ffff; ok is
// false for other commands.
func isLight(text string) (light, ok bool) {
	colour, ok := strings.CutPrefix(text, "]11;rgb:")
	parts := strings.Split(colour, "/")
	if !ok || len(parts) != 3 {
		return false, false
	}
	sum := 0.0
	for i, weight := range []float64{0.299, 0.587, 0.114} { // of ITU-R BT.601
		n, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil {
			return false, false
		}
		sum += weight * float64(n) / float64(uint64(1)<<(4*len(parts[i]))-1)
	}
	return sum > 0.5, true
}
