// Package logfile writes a log file of bounded size that several processes share.
package logfile
