// Package catalogtest fills catalogs with sessions for tests and benchmarks.
package catalogtest
