// Package apptest checks the texts that the packages of the command print.
package apptest
