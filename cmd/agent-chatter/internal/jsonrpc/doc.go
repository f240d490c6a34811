// Package jsonrpc carries JSON-RPC 2.0 over two streams, a message a line, for a server whose client is not trusted.
//
// A Conn passes on only well-formed messages and answers all others itself: a line that is too long, that is not JSON
// or not a message, an id that is in use, and a request while too many are in flight. So whatever a client sends, the
// server needs memory for a bounded number of requests, and each of them has one answer.
//
// # Concurrency
//
// One goroutine reads; any number may write. A write blocks while the client does not read. Close makes all writes
// return; one that the system has begun may remain until the process ends.
package jsonrpc
