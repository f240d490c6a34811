// Package layout decodes JSON that has the layout in which encoding/json writes
// a known type: the fields in their order and no white space between tokens.
//
// Decode reads such an object into a struct. A Cursor reads a text piece by
// piece. Both stop at the first difference from the layout and then say nothing
// about the text: it may be valid JSON in another layout, and the caller passes
// it to encoding/json. Whatever they accept, encoding/json decodes to the same
// value.
//
// # Layout of a type
//
// The fields of a struct are expected in the order of their declaration, those
// of embedded structs in the place of the struct. Fields with omitempty may be
// missing, all others must be present. No two fields may have the same name.
// Fields may be strings, booleans, int, int64, uint64, float64, json.RawMessage,
// Ignored, types that implement encoding.TextUnmarshaler, and structs, pointers,
// slices and maps with string keys of these. An object that contains an optional
// field of another type is rejected, and so is every object of a type with a
// required one.
//
// A type's UnmarshalJSON is not called, since it would cost most of what is
// gained: for an object in the layout of the type's fields, it must have the same
// result as decoding the fields.
//
// Rejected, too, although valid, are escaped surrogates and negative integers.
package layout
