// Package wire stands between the client of an agent and the connection of the SDK, which trusts its client.
//
// A Wire passes on what package jsonrpc lets through, and no message that is longer than the SDK reads. It handles
// cancellation itself: the SDK may handle session/cancel before the prompt that precedes it, and a second prompt of a
// session cancels the first. Of a session it passes on one prompt at a time, and refuses the others.
//
// # The end
//
// When the client closes its end, or the program is to end, the running prompts are canceled. Everything that was read
// is answered, unless the client does not read.
package wire
