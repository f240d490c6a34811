// Package hub keeps a second copy of journals that several machines share.
//
// A hub is a Hub: an Engine, which stores messages, and the rules of this package. The
// local journal is always written first; what is synced there is shipped to the hub. A
// session is one journal of one team, the same on each machine and on the hub: the hub
// stores its lines byte for byte.
//
// # Messages
//
// For each session the engine stores messages in one order, which all machines see. The
// number of a message in that order is its Revision. A message has a head, a JSON object,
// and a body:
//
//	{"v":1,"kind":"claim","head":{…},"claim":{"nonce":"6f0c…","home":"/home/ann/…","host":"mill","time":"…"}}
//	{"v":1,"kind":"lines","from":{"seq":0,…},"to":{"seq":7,"offset":4711,"sum":"9f1c2ab4"},"head":{…},"claim":{…},"row":{…}}
//	{"v":1,"kind":"release","head":{…},"claim":{…,"released":true}}
//
//	claim      From now on, only the machine with this nonce appends.
//	lines      The body is whole lines, which lead from one position to another. A line
//	           over the largest body of the engine is sent in parts: each has its number
//	           and their count, and together they count as one message.
//	file       The body is a part of a file that package attachment keeps for the journal:
//
//	{"v":1,"kind":"file","part":1,"parts":3,"file":"9f86d081…","head":{…},"claim":{…},"row":{…}}
//
//	           The parts of a file follow each other, before the first message with lines
//	           that name it. Parts that are not whole have no effect, and a file may be there
//	           twice. Programs that do not know this kind skip it.
//	release    The holder of the claim has shipped everything.
//	tombstone  The session was purged. Nothing before or after it counts.
//
// The fields head, claim and row of any message describe the session after it: its last
// position, who holds it, and what a list shows. They make a list cheap, and the history
// does not depend on them.
//
// # History
//
// The history of a session starts at the zero position. From each position, it continues
// with the lines of the first message, by revision, that starts there and whose lines are
// valid. So a duplicate, a message of another history and an incomplete part have no
// effect, and a hole that a hub has after it lost messages is filled by storing those
// lines again, as the last messages of the session.
//
// A message that a machine cannot read, because it is sealed for others or of a newer
// version, is skipped. On other machines it may continue the history. So reading ends with
// a *SealedError or a *NewerError, and only a take-over claims the session, until a claim
// follows whose head is the end of the history here: its machine knows no other one. Such a
// claim also ends the damage of messages before it that do not continue the history. If the
// machine can read the skipped messages one day, the history has them again, and what was
// written after the take-over has diverged from it.
//
// # Claims
//
// A message is published only as the successor of the session's last message: the engine
// refuses it if another one was stored meanwhile. A machine claims a session before it
// appends to it. A claim has no expiry; no clock decides anything. Another machine that
// takes the session over publishes a claim of its own, and the next message of the first
// machine is refused: it is fenced.
//
// An answer that does not arrive leaves unknown whether a message was stored. The writer
// then reads the history from the last position that it knows.
//
// # Confidentiality
//
// With recipients, a Writer seals its messages. It makes a random key of 32 bytes for each claim, which age wraps for
// all recipients, and seals with XChaCha20-Poly1305 and random nonces:
//
//	{"v":1,"kind":"lines","from":{"seq":7,"offset":4711,"sum":"00000000"},"to":{…},"head":{…},"key":"…","sealed":"…"}
//
//	key     The wrapped key: an age file. Each message has it, so that one alone can be read.
//	sealed  A nonce of 24 bytes and the head in full, sealed. Its additional data are "head", the team, the id of
//	        the session, and the bytes of this line before ,"sealed", each after the first preceded by a zero byte.
//
// Both are in Base64, and sealed is the last field. A sealed body is a nonce and the sealed lines; their additional
// data are "body", the team, the id, and the whole line. So a sealed text is valid only in its place. A part of lines
// is sealed as each body is.
//
// The server and all who may read from it see: teams and ids of sessions; when a message was stored; its kind; the
// sequence numbers and offsets of positions (their sums are 00000000), and so the size of lines; the number of files
// and their sizes; numbers of parts; which messages one claim has sealed; how many recipients there are, and of which
// types. They do not see lines, files, sums, rows, and nonce, home and host of a claim. A tombstone is not sealed.
//
// A machine opens a message with the identities of its recipients. One that was added later opens only what was shipped
// since; for the rest, reading fails with a *SealedError. A message whose seal is broken counts as one of another
// program: it has no effect, and the history lacks its lines.
//
// A session may have messages in plain text and sealed ones: with recipients, a machine seals what it
// adds to a session in plain text. Without, it refuses to continue a sealed session, with a *PlainError, unless
// Options.Plain is set; a claim in plain text makes it a session in plain text again. A session that the hub lacks
// counts as sealed if its Mark says so: it was sealed on a hub that is lost, or has events of a sealed session.
//
// # Trust
//
// The sums of lines detect accidents. They are no signature: any client that may publish to
// the engine can write any history. Seals are none either: the recipients are no secret, and
// messages in plain text are read as well. A server can omit and repeat sealed messages.
package hub
