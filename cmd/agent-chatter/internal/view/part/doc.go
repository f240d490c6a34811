// Package part shows the parts of a conversation: names, pieces of messages, tool calls, todo lists and the ends of
// turns.
//
// Each part has Lines, which lay it out for a terminal, and Plain, which is the text as it was written.
package part
