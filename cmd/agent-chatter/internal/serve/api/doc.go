// Package api answers the requests of the page that shows sessions: lists, parts of conversations and what is appended
// to them.
//
// A session is named by the directory of its team and its id: TEAM/ID. Text of sessions is without secrets, and is sent
// as JSON or as the HTML of package page.
package api
