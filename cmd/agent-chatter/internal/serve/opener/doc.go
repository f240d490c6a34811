// Package opener opens an address in the desktop's web browser.
package opener
