// Package jsonrpc speaks JSON-RPC with a program over its standard input and output, one object in each line. Programs
// are not trusted to follow the protocol: what is no message is left out.
package jsonrpc
