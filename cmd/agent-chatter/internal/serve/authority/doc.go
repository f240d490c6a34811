// Package authority makes certificates for the address of a server, so that a phone can use it over TLS.
//
// They are signed by a certificate authority that is made for this address alone: it is constrained to its name, so
// that a device which trusts it trusts no certificate of any other. It is in the directory tls of the home, and lasts
// for years. The certificates of the server last for days and are in memory only.
package authority
