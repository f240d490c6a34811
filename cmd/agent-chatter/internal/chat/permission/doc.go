// Package permission is the question whether an agent may use a tool: its text, the answers, and their meaning.
package permission
