// Package ttytest runs programs on terminals of tmux.
package ttytest
