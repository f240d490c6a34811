// Package view shows conversations as text.
//
// A Replay reads a session from its journal, and a Span selects a part of it. A Reporter
// prints what happens in a conversation apart from what is said. All text is safe for a
// terminal: control characters are replaced.
//
// A Transcript turns events and streamed text into blocks, and Render shows a block. What
// is printed while a conversation takes place equals what is rendered from its journal:
// a block is returned once, when it can no longer change. Plain lines have the text as it
// was written, after the name of its speaker; [Transcript.Entry] makes them of complete
// messages without parsing their Markdown.
package view
