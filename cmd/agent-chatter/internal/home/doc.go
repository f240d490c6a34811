// Package home knows where things are: the home with the sessions of a user, its configuration, identities and log
// file, and the hub that it shares sessions with.
//
// [Dir] locates the home, and [Own] decides which home's settings, agents and teams count.
//
// # Configuration
//
// A [Config] is what config.json of a home has: retention, context window, line limit, redaction and hub. Every setting
// is optional. A file with a value out of range is refused as a whole; its [ConfigError] lists every problem.
// Environment variables override the retention.
//
// # Identities
//
// An [Identity] is a file of the directory identities, in the format of age-keygen
// (https://age-encryption.org/v1): lines with a secret key, empty lines, and comments that start with #. The keys open
// what was sealed for their recipients, on the hub and in encrypted bundles.
//
// # Hub
//
// A [Connection] connects a command to the hub. It asks for at most [AskTimeout]; what is here is shown without it.
//
// # Log
//
// The log file has a bounded size, and several processes share it.
package home
