package filechanges

import "github.com/agent-chatter/agent-chatter/coordinator/workspace"

// cleaned returns the lines of a text that clean changes, by their numbers from 0. If it replaces several lines by
// fewer, as those of a private key, each of them is what replaces them. A nil clean changes nothing.
func cleaned(text []byte, clean func(string) string) map[int]string {
	if clean == nil {
		return nil
	}
	lines := map[int]string{}
	var from []int
	var to []string
	replace := func() {
		for i, n := range from {
			lines[n] = ""
			if len(to) > 0 {
				lines[n] = to[min(i, len(to)-1)]
			}
		}
		from, to = nil, nil
	}
	for _, h := range workspace.Hunks(text, []byte(clean(string(text)))) {
		at := h.Before.From
		for _, line := range h.Lines {
			switch line[0] {
			case '-':
				from = append(from, at)
				at++
			case '+':
				to = append(to, line[1:])
			default:
				replace()
				at++
			}
		}
		replace()
	}
	return lines
}
