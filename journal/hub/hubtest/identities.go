package hubtest

import (
	"testing"

	"filippo.io/age"

	"github.com/agent-chatter/agent-chatter/journal/hub"
)

// NewIdentity returns a random identity.
func NewIdentity(t testing.TB) *age.X25519Identity {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

// Seal returns a change of options with which a machine seals for the recipients of some identities.
func Seal(identities ...*age.X25519Identity) func(*hub.Options) {
	return func(o *hub.Options) {
		o.Recipients = nil
		for _, i := range identities {
			o.Recipients = append(o.Recipients, i.Recipient())
		}
	}
}

// Open returns a change of options with which a machine opens what is sealed for one of some identities.
func Open(identities ...*age.X25519Identity) func(*hub.Options) {
	return func(o *hub.Options) {
		o.Identities = nil
		for _, i := range identities {
			o.Identities = append(o.Identities, i)
		}
	}
}

// Plain is a change of options with which a machine continues sealed sessions in plain text.
func Plain(o *hub.Options) { o.Plain = true }
