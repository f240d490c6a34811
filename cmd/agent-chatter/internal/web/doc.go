// Package web has what the commands that serve HTTP share: a guard, a server that ends when it is to, and a web
// browser to open a page in.
//
// A [Guard] protects a local web server from other users, other programs and other web pages. A request must name the
// server by an address that the server has (which stops DNS rebinding), must come from a page of the server or from the
// user, and, for anything but the files of the page, must have the token. [Serve] runs such a server until it is to
// end.
//
// [FindBrowser] finds the program that opens an address in the desktop's web browser.
package web
