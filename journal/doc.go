// Package journal keeps append-only logs of events in files that survive
// crashes and that people can read.
//
// A journal is one file of JSON lines, one event a line, each chained to the
// one before by a checksum. A Dir is a directory of journals, named by ULIDs;
// a Log is one of them, open for appending; a Reader reads one; Follow reads
// one that is still being written. The package knows nothing of what the
// events mean.
//
// A database would keep the same promises, but nobody can read one with tail,
// jq or an editor, or mend it with one, and the promises are few.
//
// # Format
//
// A journal is stored as <ID>.jsonl and looks like this:
//
//	{"seq":1,"time":"2026-11-21T12:00:00.000000Z","type":"water.poured","data":{"litres":1.5},"sum":"b1377f53"}
//	{"seq":2,"time":"2026-11-21T12:00:00.000000Z","type":"kettle.started","data":{"celsius":21},"sum":"6a883cd9"}
//	{"seq":3,"synced":2,"time":"2026-11-21T12:00:00.000000Z","type":"water.boiled","data":{"celsius":100},"sum":"544d8fe8"}
//
// The fields of a line:
//
//	seq     1, 2, 3 … without a gap. It is the order of events, and the number
//	        of the line in the file.
//	synced  On the first line of a batch, when it has grown: the highest seq
//	        that was known to be on the disk when the batch was written.
//	time    UTC, RFC 3339, microseconds. Information only.
//	type    What happened: noun.verb, in the past tense.
//	data    The payload, a JSON object.
//	sum     CRC-32C (Castagnoli: reflected polynomial 0x82F63B78, initial value
//	        and final XOR 0xFFFFFFFF) as 8 lower-case hex digits, over these
//	        bytes: the 8 digits of the line before, as ASCII, 00000000 before
//	        the first line; then this line up to and not including ,"sum"
//
// A line ends in the 18 bytes ,"sum":"xxxxxxxx"} and a newline. The sum is
// found there, from the end, never by searching. Because it is over raw bytes,
// there is no canonical JSON to agree on; because it is chained, a line that
// was changed, lost, doubled or moved is noticed. Writers write compact JSON
// without HTML escapes. Readers take any valid JSON in front of the last 18
// bytes. A line has at most DefaultMaxLine bytes, unless Options say otherwise; a
// longer event is refused before anything is written, and a longer line that
// checks is a CorruptError that says how long it is, never a torn tail. No
// operation takes much more memory than a line may have bytes. An archive is
// compressed with a window of at most 8 MiB.
//
// Beside a journal there may be
//
//	<ID>.lock               locked by the writer; says who that is, for messages
//	<ID>.aside-<n>          bytes that recovery took out of the journal; in the
//	                        trash, also an earlier journal of that name
//	archive/<ID>.jsonl.zst  the journal when it is archived: the same bytes, in
//	                        zstd frames of 16 MiB with a table of them at the
//	                        end, so that its end can be read alone
//	trash/                  journals that were deleted
//	*.tmp                   unfinished; nobody reads them
//
// Directories are made with mode 0700, files with 0600.
//
// # Durability
//
// A batch is written with one write(2). When Append returns nil, all of it is
// in the file, and a killed process loses nothing. When Sync returns nil, it
// and the directory entries that lead to it are on the disk, and a lost power
// supply loses nothing. After any crash a journal holds every event that was
// promised, once and in order, then perhaps some that were not, and nothing
// else. A written line is never written again, except by Repair, which numbers
// the lines behind a gap anew.
//
// # Assumptions
//
// A flush that the disk reports as done is done. The kernel reports a write-back
// that failed to the next fsync of the file, once. A page that is written again
// because something was appended to it keeps what was synced of it: what the
// power cut leaves of the page is the old one or the new one. A rename within a
// directory is one step. The order in which pages, sizes and names reach the
// disk that were not synced is any: a file may have grown and hold NUL bytes
// where its pages should be, and a name may be there without the file's bytes.
// Bytes that the disk loses later are found by the sums, and cannot be brought
// back; CRC-32C is no signature, so a change made with knowledge of it is not
// found.
//
// Sync is fdatasync on Linux, F_FULLFSYNC on macOS and FlushFileBuffers on
// Windows, where directories need no sync and none of this was ever tried. On a
// network file system a flush means what the server makes of it, and a lock may
// not hold between machines.
//
// The package journaltest has a file system that keeps to no more than this.
//
// # Concurrency
//
// The lock of the operating system allows one Log of a journal at a time,
// whatever the lock file says; ErrLocked and the LockedError tell who has it.
// It is the process that has it: it ends with the process, however that ends,
// and no program that the process started inherits it. Between machines that
// share a file system it may hold or not; NetworkFS tells where that may be.
// Readers and followers take no lock, write nothing and may be many. They meet
// half lines all the time, so they consume up to the last newline and no
// further. A follower is woken by notifications and does not trust them: it
// also looks by itself, every 250 milliseconds. A Watch shares the system's
// notifications among followers, and says when the system has none to give.
//
// # Recovery
//
// Lines that do not check are one of two things. Up to the highest seq that
// any good line calls synced they had been on the disk and are damaged now:
// reading stops with a CorruptError, and nothing is ever removed by itself.
// Behind that seq they are a torn tail, what a crash leaves of the last batches:
// half a line, lost pages, NUL bytes. No line vouches for the last batch of a
// journal, not even when it was synced, so a change to it looks the same.
// Readers end before a torn tail; the next Append sets it aside in a file, cuts
// it off, and appends a journal.recovered event that says so. The chain cannot
// see that whole lines are missing at the end.
//
// Repair is for damage. It keeps every line that checks against the line before
// it, puts a journal.recovered event in the place of what does not, and keeps
// the journal as it was aside.
//
// Opening for appending checks the chain of the last 8 MiB; reading checks what
// it reads.
//
// A Log whose write or sync failed refuses everything, because nobody knows
// what the file holds now. Recover is the way back. After a failed write it
// opens the file again, compares it with what it kept in memory, and writes
// what is missing, the second half of a line if need be: nothing of its own is
// set aside, so that a disk may stay full for as long as it likes. After a
// failed sync the system may have dropped pages that it still shows: Recover writes a new file, of what was on the disk
// before and what it kept in memory since, syncs it and renames it into place.
// Both ways the lines keep their numbers and sums, since a follower may have
// seen them.
package journal
