// Package interchange converts sessions between this program's events and the
// files of other programs.
//
// A Session is one branch of a conversation of another program, as the records of a
// journal. Its source is the file of the conversation, and the files of its subagents.
// Its id depends only on the source and, unless the source's id is a ULID, on the team.
// So the same source always becomes the same session. The newest branch always has this
// id: a later save extends that session or, if the conversation was rewound meanwhile,
// has diverged from it.
//
// # Reading
//
// Session snapshots are checked against their schema. Transcripts of other
// programs have no documented format, except for Pi's: unknown lines are skipped and
// counted, except for events of Codex and objects of the Gemini CLI that are no messages.
// All formats read the objects of a file by one reader, which finds each whole object whatever
// surrounds it: NUL bytes, a byte order mark, UTF-16, a torn or a foreign line, a missing line break.
// Each format registers a [Format], by which files are detected and read: a new importer is one file.
// System prompts and reasoning are never imported. testdata has samples of most forms.
//
//	claude         ~/.claude/projects/<directory>/<UUID>.jsonl, of Claude Code 2.1
//	codex          ~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<UUID>.jsonl, of Codex 0.169;
//	               until September 2025 without payloads, until May 2025 one object
//	gemini         ~/.gemini/tmp/<project>/chats/session-<time>-<8 hex digits>.jsonl; older ones are one object
//	opencode       what "opencode export" prints, of OpenCode 1.18
//	pi             ~/.pi/agent/sessions/<directory>/<time>_<UUID>.jsonl, of Pi 0.73
//	claude-master  <project>/.claude-master/sessions/: one object, or a log with a line for each message
//	synapse        ~/.synapse/sessions/<id>.jsonl, with the titles and times of all sessions in sessions.json next to it
//
// The lines of Claude Code are a tree. It branches only where two lines name the same line as their
// parent, and a person continued from each. Text that a program puts around a person's message differs
// from words about it by its form: a block that begins a line and has an end.
//
// A transcript that is not held completely is read several times: for its header and its
// branches, and for its records, which are passed on one by one. Memory holds one line, or one value of a file
// that is one object, and what belongs to an unfinished reply. For formats with branches,
// it also holds some bytes for each line (Claude Code: about 40, while it is read). Conversations of the
// Gemini CLI, whose lines replace earlier ones, and the objects of claude-master and of
// the oldest Codex are held completely. A LimitError reports what exceeds its limit: a
// value, the number of lines with ids, or what is held completely. Lines of more than
// 64 MiB, and what a subagent writes beyond 16 MiB, are skipped and counted.
//
// The calls of a subagent belong to the turn that started it. Text that a program wrote
// in a person's name is not a message. Of an image, only the media type and, if it has
// data, the size is imported; of another file, those or its name.
//
// # Writing
//
// Sessions are written as pages in Markdown and HTML, as transcripts in the
// formats of Claude Code, Codex and the Gemini CLI, and as bundles: several
// journals in one file, to be imported elsewhere.
//
// The package opens files only with the functions of a Source. It reads the clock only
// for an event without a time, which it writes to a journal.
package interchange
