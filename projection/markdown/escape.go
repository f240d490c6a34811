package markdown

import "strings"

// Escape returns text as one line that any Markdown reader shows as it is: white space is one blank, and the characters
// that have a meaning are escaped. At the start of a line it begins no list and no heading, and between "**" and "**"
// it is strong.
func Escape(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	var b strings.Builder
	digits := 0 // at the beginning
	for i, r := range text {
		switch {
		case strings.ContainsRune("\\`*_{}[]<>#!|&~", r),
			i == 0 && strings.ContainsRune("-+=", r),
			i == digits && i > 0 && (r == '.' || r == ')'):
			b.WriteByte('\\')
		case i == digits && '0' <= r && r <= '9':
			digits++
		}
		b.WriteRune(r)
	}
	return b.String()
}

// AsCodeSpan returns text as a code span, in which it is one line and shown as it is.
func AsCodeSpan(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	if text[0] == '`' || text[len(text)-1] == '`' {
		text = " " + text + " "
	}
	return fence + text + fence
}

// AsCodeBlock returns text as a fenced code block that nothing in the text closes. The info string after the opening
// fence is one word, such as a language; it may be empty. The result ends in a line break.
func AsCodeBlock(info, text string) string {
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fence + info + "\n" + text + fence + "\n"
}

// OpenFence returns the fence that closes the code block in which a text ends; "" if it ends in none, or in one that
// ends with its list or quote.
func OpenFence(text string) string {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return ""
	}
	blocks := Parse(text + "\n").Blocks
	if len(blocks) == 0 {
		return ""
	}
	if last := blocks[len(blocks)-1]; last.Open {
		return last.Fence
	}
	return ""
}

func longestRun(text string, of byte) int {
	longest, run := 0, 0
	for i := range len(text) {
		if run++; text[i] != of {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}
