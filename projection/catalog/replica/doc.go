// Package replica keeps the sessions of a catalog on a hub.
//
// Pull fetches what other machines have written, Push ships what was written here, and an
// open session is shipped while it is being written by a hub.Shipper that Ship starts. The mark of a session, how
// far its history on the hub was read, is stored beside its journal:
//
//	<team>/<ID>.hub.json    a cache, and the nonces of the claims of this machine
//
// # Divergence
//
// Two machines that wrote to a session without a claim, or while one took it over, have different lines
// after a common prefix. The lines of the hub keep the id. Pull copies the local session into a fork whose id is
// derived from the session, the common prefix and the line after it; then it replaces the journal by the history of
// the hub, and keeps the previous file aside. A crash in between leaves the journal as it was, and perhaps the fork:
// the next Pull continues.
package replica
