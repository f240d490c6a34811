// Package eventlog logs what happens in a conversation, without its texts.
package eventlog
