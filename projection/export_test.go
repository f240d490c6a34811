package projection

import "github.com/agent-chatter/agent-chatter/journal"

// DecodeAny is Decode without the short way.
var DecodeAny = decodeAny

// DecodeOrdinary is the short way.
var DecodeOrdinary = decodeOrdinary

// ApplyAny is State.Apply without the short way.
func (s *State) ApplyAny(e journal.Event) {
	p, err := decodeAny(e)
	s.applyDecoded(e, p, err)
}
