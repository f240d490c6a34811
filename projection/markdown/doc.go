// Package markdown parses a message into blocks.
//
// A message is Markdown that a person or an agent wrote. [Parse] reads it as CommonMark with the tables of
// GitHub Flavored Markdown and its strikethrough with two tildes, and returns a [Document]: blocks, which
// hold blocks or inline text, each with its byte range in the source. HTML is text, and text is returned
// without backslash escapes and entities, so that a renderer only has to escape for its own output. The
// parser is goldmark; its types do not appear here.
//
// # Code
//
// [Document.Code] holds the ranges of all code spans and code blocks, sorted. A reader of the source that
// must not look into code, such as the marker parser, skips them.
//
// # Streaming
//
// A message that is still being written is parsed again with each piece. Blocks that more text cannot
// change have [Block.Open] false: they can be printed, and the next call needs only the text from the line on
// which the first open top-level block starts. Link definitions are the exception: one that arrives later turns earlier
// text into a link. A [Stream] does this, and returns each paragraph, line of code or other [Piece] once, when it is
// final.
//
// # Limits
//
// Every text has a meaning, so Parse returns no error, and it takes time and memory in proportion to the text.
// Containers nest up to 32 levels; deeper markers are text. In a paragraph of unusual size and density,
// emphasis and links are text after a limit. After about a million lines or 131,072 blocks or table
// cells, the remaining text is a single paragraph of plain text.
package markdown
