// Package conversationtest draws sessions for property tests of what shows conversations.
package conversationtest
