// Package assets has the files of the page that shows sessions in a web browser.
package assets
