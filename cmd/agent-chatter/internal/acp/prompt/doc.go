// Package prompt turns the content blocks of a prompt into a message.
//
// Texts are joined as they are, so that "@ada" at the beginning addresses Ada, and a marker works. A linked file is a
// Markdown link at its place, after white space; the text of an embedded one follows at the end, after the link again,
// in a fenced code block. What precedes the first text is placed after the last one.
//
// Of what a resource brings, its name, its URI and its text, nothing is read as a marker or ends the code block: names
// are code spans, URIs are escaped, and a code block that the texts leave open is closed first. If removing a marker
// from the texts would open one, the embedded text is indented, which nothing can end.
package prompt
