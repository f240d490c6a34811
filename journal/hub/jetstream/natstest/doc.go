// Package natstest starts servers of NATS JetStream for tests.
package natstest
