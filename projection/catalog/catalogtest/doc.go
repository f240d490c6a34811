// Package catalogtest fills directories with sessions, as years of chats leave
// them, so that tests and benchmarks can ask what size costs.
package catalogtest
