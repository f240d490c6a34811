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
//	release    The holder of the claim has shipped everything.
//	tombstone  The session was purged. Nothing before or after it counts.
//
// The fields head, claim and row of any message describe the session after it: its last
// position, who holds it, and what a list shows. They make a list cheap, and nothing is
// decided by them.
//
// # History
//
// The history of a session starts at the zero position. From each position, it continues
// with the lines of the first message, by revision, that starts there and whose lines are
// valid. So a duplicate, a message of another history and an incomplete part have no
// effect, and a hole that a hub has after it lost messages is filled by storing those
// lines again, as the last messages of the session.
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
// # Trust
//
// The sums of lines detect accidents. They are no signature: whoever may publish to the
// engine can write any history.
package hub
