// Package look takes looks at a conversation, for commands that only look while its turns run.
package look
