// Package serve implements the command that shows sessions in a web browser.
package serve
