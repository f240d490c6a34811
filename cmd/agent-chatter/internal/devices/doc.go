// Package devices has the devices that may use the page of serve, how they are paired, and the command that lists and
// revokes them.
//
// A device is paired with a code, which is good once and for a short time, and which is only in the memory of the
// server that made it. The device then has a token of its own, of which the home has the hash.
package devices
