package journal

// findWindow is how near a search comes to a line before it reads on to it, in
// bytes.
const findWindow = 64 << 10

// Find returns the position in front of the event with a number, or behind the
// last one when there are not as many. It searches, and does not read what lies
// before: a journal that is damaged elsewhere does not say so.
func (r *Reader) Find(seq uint64) (Position, error) {
	if seq <= r.from.Seq+1 {
		return r.from, nil
	}
	near, err := r.src.near(seq, r.from, r.maxLine)
	if err == nil {
		if near, err = r.src.readTo(seq, near, r.maxLine); err == nil {
			return near, nil
		}
	}
	if isOfDisk(err) {
		return Position{}, err
	}
	// A line that was believed on the way is damaged: to name it, everything
	// has to be read.
	return r.src.readTo(seq, r.from, r.maxLine)
}

// near returns a position not far in front of an event. The line before it is
// believed.
func (s source) near(seq uint64, from Position, maxLine int) (Position, error) {
	if !s.archived() {
		from, _ = s.between(seq, from, s.size, maxLine, nil)
		return from, nil
	}
	from, to := s.between(seq, from, s.size, maxLine, s.cheap)
	if to-from.Offset > maxKept {
		return from, nil
	}
	if err := s.keep(from.Offset, to); err != nil {
		return Position{}, err
	}
	from, _ = s.between(seq, from, to, maxLine, nil)
	return from, nil
}

// between halves the part of a journal in which an event starts, from one line
// to an offset, until it is small. With cheap it does so only at offsets where
// reading can begin at once.
func (s source) between(seq uint64, from Position, to int64, maxLine int, cheap func(from, to int64) int64) (Position, int64) {
	for to-from.Offset > findWindow {
		middle := from.Offset + (to-from.Offset)/2
		if cheap != nil {
			if middle = cheap(from.Offset, to); middle < 0 {
				break
			}
		}
		p, err := s.firstIn(middle, maxLine)
		if err == nil && p.Seq < seq {
			from = p
		} else {
			to = middle
		}
	}
	return from, to
}

// readTo checks the lines behind a position up to an event.
func (s source) readTo(seq uint64, from Position, maxLine int) (Position, error) {
	r, err := s.open(from.Offset)
	if err != nil {
		return Position{}, s.unreadable(from, err)
	}
	defer r.Close()
	sc := newScanner(r, from, maxLine)
	for sc.at.Seq+1 < seq {
		if _, err := sc.next(); err != nil {
			end, err := s.ended(sc, err, maxLine)
			return end.at, err
		}
	}
	return sc.at, nil
}
