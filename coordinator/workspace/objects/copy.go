package objects

// Copy adds the objects of a tree of another store, in one pack with the name id. The errors are those of Read and
// Write.
func (s *Store) Copy(id string, from *Store, root Hash) error {
	needed := map[Hash]bool{}
	if err := from.mark(root, needed); err != nil {
		return err
	}
	return s.Write(id, func(out *Writer) error {
		for h := range needed {
			if p, _ := s.find(h); p != nil {
				continue
			}
			p, at := from.find(h)
			if p == nil {
				return &MissingError{from.dir, h}
			}
			data, err := p.compressed(from.fs, at)
			if err != nil {
				return err
			}
			if err := out.p.add(h, data, at.size); err != nil {
				return err
			}
		}
		return nil
	})
}
