// Package banner is what the chat prints before a new conversation.
package banner
