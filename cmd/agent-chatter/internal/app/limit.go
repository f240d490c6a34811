package app

import (
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/journal"
)

// tooLongText is for a message that exceeds the limit of a line.
func tooLongText(e *journal.TooLongError) Message {
	return Text("The message is too long: it needs %d bytes, and the limit is %d.\n"+
		"Nothing was sent. Write it to a file and name the file. %s", e.Bytes, e.Limit, AllowText(int64(e.Bytes)))
}

// AllowText explains how to raise the maximum length of a line to a number of bytes.
func AllowText(bytes int64) string {
	const step = 1 << 20
	enough := (bytes + step - 1) / step * step
	if enough > home.MaxLineLimit {
		return fmt.Sprintf("This exceeds the maximum of journal.maxLine, %d bytes.", home.MaxLineLimit)
	}
	return fmt.Sprintf("To raise the limit, set this in config.json of the home: {\"journal\": {\"maxLine\": %d}}",
		enough)
}
