// Package interchange turns sessions of other programs into events of ours.
//
// A Session is what one file of another program amounts to: the records that a
// journal of it would begin with. Its id depends on the source alone, so that
// the same source always becomes the same session, and a later save of it can
// be told from another conversation.
//
// On the way in are session snapshots, whose schema is checked, and transcripts of
// Claude Code, Codex, the Gemini CLI, claude-master and Synapse, whose formats nobody promises: what is known
// of them is taken, what is not is counted. A system prompt is never taken.
//
// The way out are pages for people, Markdown and HTML, transcripts as those programs
// keep them, and bundles: whole sessions in one file, to be gone on with elsewhere.
//
// The package is pure: it opens no files and asks no clock.
package interchange
