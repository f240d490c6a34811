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
// # Transcripts
//
// None of these formats is documented by who writes it; the samples that they were
// read from are in testdata, but for the last two.
//
//	claude         ~/.claude/projects/<directory>/<UUID>.jsonl, of Claude Code 2.1
//	codex          ~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<UUID>.jsonl, of Codex 0.169
//	gemini         ~/.gemini/tmp/<project>/chats/session-<time>-<8 digits>.jsonl; older ones are one object
//	claude-master  one object, or a log with a line for each message
//	synapse        <id>.jsonl, with the titles and times of all in a sessions.json beside
//
// The package is pure: it opens no files and asks no clock.
package interchange
