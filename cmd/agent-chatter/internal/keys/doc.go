// Package keys names the keys of the chat and what they do, and binds other keys to it.
package keys
