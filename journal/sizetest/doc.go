// Package sizetest defines the flag -full. Tests that can try very many cases, or that need large inputs, try some of
// them, or smaller ones, without it.
package sizetest
