// Package webtest tests the pages of agent-chatter in a real web browser, and measures them.
//
// It is a module of its own: the program does not depend on what drives the browser. The tests need Chromium, and axe
// from npm, which .ci/agents installs. In CI they fail without; elsewhere those that need it are skipped.
//
//	go test -pictures DIR .                            the tests; screenshots are written to DIR
//	go test -run Figures -v -full -timeout 1h .        the figures at full size
package webtest
