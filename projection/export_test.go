package projection

import (
	"maps"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal"
)

// DecodeByPackageJSON is Decode without package layout.
func DecodeByPackageJSON(e journal.Event) (Payload, error) { return decode(e, false) }

// ApplyByPackageJSON is State.Apply without package layout.
func (s *State) ApplyByPackageJSON(e journal.Event) {
	p, err := decode(e, false)
	s.applyDecoded(e, p, validate(e, p, err), err)
}

// Fits reports whether Validate does without the schema.
var Fits = fits

// TurnEndedOf decodes a turn.ended by package layout alone.
func TurnEndedOf(e journal.Event) (TurnEnded, bool) { return turnEndedOf(e) }

// EventTypes returns the types of events that Decode knows.
func EventTypes() []string { return slices.Collect(maps.Keys(decoders)) }

var ErrUnknownType = errUnknownType
