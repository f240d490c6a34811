// Package webtest tests the pages of agent-chatter in a real web browser.
//
// It is a module of its own: the program does not depend on what drives the browser. The tests need Chromium, and axe
// from npm in the directory that the environment variable AXE names. In CI they fail without; elsewhere those that need
// it are skipped.
package webtest
