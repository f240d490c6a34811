// Package mcp implements agent-chatter mcp: saved sessions for models, over the Model Context Protocol.
//
// Over standard input and output there is one client; package jsonrpc bounds what it can do. Over HTTP there may be
// several; package web keeps others out.
package mcp
