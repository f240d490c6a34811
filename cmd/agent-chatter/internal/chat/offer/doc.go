// Package offer describes the sessions that a chat offers to resume.
package offer
