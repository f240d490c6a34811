// Package filestest has sessions whose turns change files, for tests of what shows them.
package filestest
