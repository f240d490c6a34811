// Package retention applies the retention policy after a chat.
package retention
