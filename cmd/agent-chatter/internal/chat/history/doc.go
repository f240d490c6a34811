// Package history finds what people have written in earlier conversations. The journals are the history: there is no
// file of it.
package history
