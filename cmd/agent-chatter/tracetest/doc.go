// Package tracetest tests that what `sessions export --format otlp` writes is what OpenTelemetry's own decoder reads. It
// is a module of its own, so that the decoder is no dependency of the program.
package tracetest
