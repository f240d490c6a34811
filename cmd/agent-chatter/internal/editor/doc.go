// Package editor edits a message of several lines. It is pure: keys and pasted text go in, rows for
// a terminal come out.
//
// The text is a sequence of cells. A cell is what the cursor steps over: a grapheme cluster, a line
// break, or a long paste, which is shown as a label such as [paste: 200 lines] and sent whole.
//
// A [Field] is an input field of one line: a title, a path or a query.
package editor
