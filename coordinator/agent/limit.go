package agent

import (
	"fmt"
	"unicode/utf8"
)

// A limit is how much of a prompt an agent takes at once.
type limit struct {
	most int
	unit string // bytes or characters
	size func(prompt string) int
}

func (l limit) excess(prompt string) int {
	if len(prompt) <= l.most { // no prompt has more characters than bytes
		return 0
	}
	return max(0, l.size(prompt)-l.most)
}

// excess is by how much a prompt is too long for the strictest of the limits; 0 when it is not.
func (d dialect) excess(prompt string) (most int) {
	for _, l := range d.limits {
		most = max(most, l.excess(prompt))
	}
	return most
}

// tooLong is the error of a prompt that the agent does not take; nil when it does.
func (d dialect) tooLong(prompt string) error {
	for _, l := range d.limits {
		if l.excess(prompt) > 0 {
			return d.failure(fmt.Sprintf("the prompt is too long: it takes at most %d %s", l.most, l.unit), helpShorter)
		}
	}
	return nil
}

func bytesOf(prompt string) int { return len(prompt) }

// utf16Of counts characters as JavaScript does.
func utf16Of(prompt string) int {
	units := utf8.RuneCountInString(prompt)
	for _, r := range prompt {
		if r > 0xFFFF {
			units++
		}
	}
	return units
}
