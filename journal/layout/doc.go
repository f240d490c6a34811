// Package layout reads JSON of which it is known how it will look: what our own
// writers write, with its fields in their order and no white space.
//
// A Cursor stands in such a text and goes from left to right. It gives up at
// the first surprise, and then says nothing of the text: that may be good JSON
// in another layout, and package encoding/json has to read it. What a Cursor
// does read, encoding/json would read as the same.
package layout
