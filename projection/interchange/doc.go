// Package interchange converts sessions between this program's events and the
// files of other programs.
//
// A Session is the content of one file of another program, as the records of a
// journal. Its id depends only on the source, so that the same source always
// becomes the same session and a later save of it extends that session.
//
// # Reading
//
// Session snapshots are checked against their schema. Transcripts of other
// programs have no documented format, except for Pi's: known lines are read,
// unknown ones are skipped and counted. System prompts and reasoning are never
// read. The samples that the readers were written from are in testdata.
//
//	claude         ~/.claude/projects/<directory>/<UUID>.jsonl, of Claude Code 2.1
//	codex          ~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<UUID>.jsonl, of Codex 0.169;
//	               until September 2025 without payloads, until May 2025 one object
//	gemini         ~/.gemini/tmp/<project>/chats/session-<time>-<8 digits>.jsonl; older ones are one object
//	opencode       what "opencode export" prints, of OpenCode 1.18
//	pi             ~/.pi/agent/sessions/<directory>/<time>_<UUID>.jsonl, of Pi 0.73
//	claude-master  one object, or a log with a line for each message
//	synapse        <id>.jsonl, with the titles and times of all sessions in sessions.json next to it
//
// A transcript is read several times: for its header and its branches, and for its
// records, which are passed on one by one. Memory holds one line or part of the file
// and, if there may be branches, a few bytes for each line. It holds all messages of the
// Gemini CLI, whose lines replace earlier ones, and the objects of claude-master and of
// the oldest version of Codex. What is held has limits: a LimitError says which.
//
// The calls of a subagent belong to the turn that started it. Text that a program wrote
// in a person's name is not a message. An image is replaced by its kind and size.
//
// # Writing
//
// Sessions are written as pages in Markdown and HTML, as transcripts in the
// formats of Claude Code, Codex and the Gemini CLI, and as bundles: several
// journals in one file, to be imported elsewhere.
//
// The package is pure: it opens no files and reads no clock.
package interchange
