// Package config reads config.json of a home: retention, context window, line limit and redaction.
//
// Every setting is optional. A file with an unknown setting or a value out of range is refused as
// a whole; its [Error] lists every problem. Environment variables override the retention.
package config
