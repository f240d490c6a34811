// Package journal stores append-only logs of events in files that survive crashes
// and that people can read.
//
// A journal is one file of JSON lines, one event per line, each chained to the
// previous one by a checksum. A Dir is a directory of journals, named by ULIDs; a
// Log is one of them, open for appending; a Reader reads one. The package does not
// interpret the events. Create, append, sync, read, follow:
//
//	dir := journal.NewDir(path, journal.Options{})
//	log, err := dir.Create(dir.NewID())
//	events, err := log.Append(journal.Record{Type: "tea.made", Data: data}) // survives a killed process
//	err = log.Sync()                                                        // survives a power cut
//
//	r, err := dir.Reader(id, journal.Position{})
//	for e, err := range r.All() { … }
//
//	for e, err := range dir.Follow(ctx, id, journal.Position{}) { … } // as they are written, until ctx is done
//
// Dir.Open continues a journal, which it locks; Log.Recover resolves a failed write or
// sync; Dir.Repair is for corruption. Log.Archive compresses a journal, which is read
// and opened as before; package trash deletes journals, package hub replicates them.
//
// A database would give the same guarantees, but its files cannot be read with
// tail, jq or an editor, nor repaired with one.
//
// # Format
//
// A journal is stored as <ID>.jsonl and looks like this:
//
//	{"seq":1,"time":"2026-11-21T12:00:00.000000Z","type":"water.poured","data":{"litres":1.5},"sum":"b1377f53"}
//	{"seq":2,"time":"2026-11-21T12:00:00.000000Z","type":"kettle.started","data":{"celsius":21},"sum":"6a883cd9"}
//	{"seq":3,"synced":2,"time":"2026-11-21T12:00:00.000000Z","type":"tea.made","data":{"cups":2},"sum":"5d6cebaa"}
//
// The fields of a line:
//
//	seq     1, 2, 3 … without a gap: the order of events, and the number of the
//	        line in the file.
//	synced  The highest seq that was known to be on the disk when the batch of
//	        this line was written. Only on the first line of a batch, and only
//	        if it is higher than in the lines before.
//	time    UTC, RFC 3339, microseconds. Information only.
//	type    What happened: noun.verb, in the past tense.
//	data    The payload, a JSON object.
//	sum     CRC-32C (Castagnoli: reflected polynomial 0x82F63B78, initial value
//	        and final XOR 0xFFFFFFFF) as 8 lower-case hex digits, over these
//	        bytes: the 8 digits of the previous line, as ASCII, 00000000 for
//	        the first line; then this line up to and not including ,"sum"
//
// A line ends in the 18 bytes ,"sum":"xxxxxxxx"} and a newline. A reader finds the
// sum by its distance from the end, never by searching. The sum covers raw bytes,
// so there is no canonical JSON to agree on. It is chained, so a line that was
// changed, lost, duplicated or moved is detected. Writers write compact JSON
// without HTML escapes. Readers accept any valid JSON before the last 18 bytes.
//
// A line has at most DefaultMaxLine bytes, unless Options specify another limit. A
// longer event is refused before anything is written. A longer line with a valid
// sum is a CorruptError with its length, never a torn tail. No operation needs much
// more memory than the longest line; package archive says what an archive takes.
//
// The directory of a journal also contains
//
//	<ID>.lock               locked by the writer; names it, for messages
//	<ID>.aside-<n>          bytes that recovery or repair set aside, and what
//	                        could not be saved; in the trash, also an earlier
//	                        journal of that name
//	<ID>.attachments/       files that its events name, as package attachment describes
//	archive/<ID>.jsonl.zst  the archived journal: the same bytes, compressed as
//	                        package archive describes
//	trash/                  deleted journals, as package trash describes
//	*.tmp                   temporary files; never read
//
// Directories have mode 0700, files 0600, or more in a directory that its group shares:
// see package vfs. A file that takes another one's place gets its mode.
//
// # Durability
//
// A batch is written with one write(2). When Append returns nil, the whole batch is
// in the file, and survives a killed process. When Sync returns nil, the batch and
// the directory entries that lead to it are on the disk, and survive a power cut.
// After any crash, a journal contains every acknowledged event once and in order,
// then perhaps some unacknowledged ones, and nothing else. A written line is never
// changed, except by Repair, which renumbers the lines after a gap.
//
// # Assumptions
//
//   - A flush that the disk reports as done is done.
//   - The kernel reports a failed write-back to the next fsync of the file, once.
//   - If a page is written again because something was appended to it, a power cut
//     leaves the old page or the new one; both contain what was synced.
//   - A rename within a directory is atomic.
//
// The order in which unsynced pages, sizes and names reach the disk is arbitrary: a
// file may have grown and contain NUL bytes in place of its pages, and a name may
// exist without the file's bytes. The sums detect bytes that the disk loses later,
// but cannot restore them. CRC-32C is not a signature: a deliberate change that
// adjusts the sums is not detected.
//
// Sync uses fdatasync on Linux, F_FULLFSYNC on macOS and FlushFileBuffers on
// Windows, where directories cannot be synced and crash safety was never tested. On a
// network file system, the server decides what a flush means, and a lock may not
// work between machines.
//
// Package journaltest has a file system that guarantees no more than this.
//
// # Concurrency
//
// The operating system's locks allow one Log of a journal at a time, whatever the
// lock file contains; LockedError names the holder. Both the lock file and the journal
// are locked, so a journal has one writer even if it is reached through a link or its
// lock file was removed. A lock file that is a symbolic link is refused, and so is a
// journal that is one, except for reading. On Windows the name of a journal is checked
// before the file is opened, so a link that is created in between is followed. The locks
// belong to the process: they are released when the process ends, in any way, and child
// processes do not inherit them. Between machines that share a file system they may not
// work; NetworkFS reports where that is possible.
//
// A Log that finds bytes of a program which ignores the locks refuses to continue.
//
// Any number of readers and followers can be active. They take no lock and write
// nothing. They often see incomplete lines, so they read up to the last complete line
// and no further. A follower is woken by notifications, which may be lost; it also polls
// every 250 milliseconds. A Watch shares the system's notifications among followers,
// and reports if the system refuses them.
//
// # Recovery
//
// An invalid line is one of two things. Up to the highest seq that any valid line
// declares synced, it was on the disk and is corrupt: reading stops with a
// CorruptError, and nothing is removed automatically. After that seq it starts a torn
// tail, which a crash leaves of the last batches: an incomplete line, lost pages,
// NUL bytes. Readers stop before a torn tail. The next Append copies it to a file,
// truncates the journal, and appends a journal.recovered event. Every line of an
// archive counts as synced. The chain cannot detect that whole lines are missing at
// the end.
//
// Bytes between the lines are corruption, too, wherever the line that is expected there
// follows them whole: a crash loses bytes, but never inserts any, so another program has
// written them. Examples are the CR of CR LF, a byte order mark, a line of an editor, and
// two lines without a newline between them. A torn tail would be set aside with the whole
// lines. A last line that lacks nothing but its newline is an event: its checksum says
// that it is complete. The next Append writes the newline.
//
// Log.Seal ends a journal with a line that declares every line before it synced, a
// journal.sealed event if need be, and so does Repair. If writers seal what they
// have written, only a crash leaves more than the last line without such a mark. The
// next Append marks those lines.
//
// Repair is for corruption. It keeps every line that is valid after the previous
// line, replaces each invalid part by a journal.recovered event, and keeps the
// previous journal aside. It removes bytes between lines that follow each other, and
// records all of them in one event at the end, so that the lines keep their numbers.
//
// Opening a journal for appending checks the chain of the last lines, usually 8 MiB;
// reading checks the lines that it reads.
//
// A Log whose write or sync failed refuses every call, because the content of the
// file is uncertain. Recover resolves that. After a failed write it opens the file
// again, compares it with the lines in memory, and writes what is missing, perhaps
// the second half of a line; it sets none of its own bytes aside, so a disk that
// stays full costs no space. After a failed sync the system may have dropped pages
// that it still returns: Recover writes a new file, from the lines that were synced
// and the lines in memory, syncs it and renames it into place. In both cases the
// lines keep their numbers and sums, since a follower may have read them. If Recover
// fails to the end, SetAside writes what is only in memory to a file.
package journal
