// Package view shows conversations, and what commands have found, as text.
//
// A Replay reads a session from its journal, and a Span selects a part of it. A Reporter
// prints what happens in a conversation apart from what is said. All text is safe for a
// terminal: control characters are replaced.
//
// A Transcript turns events and streamed text into blocks, and Render shows a block. On a terminal, what
// is printed while a conversation takes place equals what is rendered from its journal:
// a block is returned once, when it can no longer change. Plain lines have the text as it
// was written, after the name of its speaker; [Transcript.Message] makes them of a complete
// message without parsing its Markdown.
//
// A block has parts: names, pieces of messages, tool calls, todo lists and the ends of turns.
// Each part has Lines, which lay it out for a terminal, and Plain, which is the text as it was
// written. [FilesIn], [HunksIn] and [ChangesIn] find files and changes in the input of a tool
// call, whichever agent made it. Lines of an edit have numbers only if the input says where in
// the file they are.
//
// # Code
//
// A [Lexer] takes the lines of a block of code one by one, as they arrive. What it returns for
// a line follows from that line and those before it, in time proportional to the line: a line
// that was printed never has to change. It knows comments, strings, numbers, keywords, names of
// functions and keys of the usual languages, which is what 16 colours can tell apart.
//
// # Findings
//
// [Findings] are a line for each app.Finding, after a sign that says whether it is good, and a
// last line that sums up. What helps follows a finding on lines of its own; a command stays
// whole, so that it can be copied. In a pipe, and on a terminal without control sequences, a
// command prints its own lines instead.
package view
