// Package usage reads the values of the command line and explains its errors: what is wrong, the most
// similar word if one is misspelled, and the command that helps.
package usage
