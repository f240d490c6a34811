package layout

import (
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Decode stores a JSON object in the struct that v points to, which must be
// zero, and reports whether text has the layout of v's type. After false the
// content of the struct is undefined. What is stored shares no memory with text.
func Decode(text []byte, v any) bool {
	target := reflect.ValueOf(v).Elem()
	cached, ok := decoders.Load(target.Type())
	if !ok {
		cached, _ = decoders.LoadOrStore(target.Type(), decoderOf(target.Type()))
	}
	decode := cached.(decoder)
	if decode == nil {
		return false
	}
	c := decode(At(text), target)
	return c.atEnd()
}

// Ignored is the type of a field that is a string and is not stored.
type Ignored struct{}

// A decoder consumes a value, stores it, and returns the Cursor after it. A nil decoder
// stands for a type that Decode does not support. A pointer to the Cursor would be an
// allocation for each object.
type decoder func(c Cursor, v reflect.Value) Cursor

var decoders sync.Map // of decoders, by reflect.Type

var (
	ignored         = reflect.TypeFor[Ignored]()
	rawMessage      = reflect.TypeFor[json.RawMessage]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func decoderOf(t reflect.Type) decoder {
	switch {
	case t == ignored:
		return func(c Cursor, v reflect.Value) Cursor {
			c.quoted()
			return c
		}
	case t == rawMessage:
		return func(c Cursor, v reflect.Value) Cursor {
			v.SetBytes(c.Raw())
			return c
		}
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		return decodeText
	}
	switch t.Kind() {
	case reflect.String:
		return decodeString
	case reflect.Bool:
		return decodeBool
	case reflect.Int, reflect.Int64:
		return decodeInt
	case reflect.Uint64:
		return decodeUint
	case reflect.Float64:
		return decodeFloat
	case reflect.Pointer:
		return pointerDecoder(t, "null")
	case reflect.Slice:
		return sliceDecoder(t)
	case reflect.Map:
		return mapDecoder(t)
	case reflect.Struct:
		return structDecoder(t)
	}
	return nil
}

func decodeString(c Cursor, v reflect.Value) Cursor {
	v.SetString(c.String())
	return c
}

func decodeText(c Cursor, v reflect.Value) Cursor {
	text := c.Plain()
	if c.failed || v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(text) != nil {
		c.fail()
	}
	return c
}

func decodeBool(c Cursor, v reflect.Value) Cursor {
	if c.Accept("true") {
		v.SetBool(true)
		return c
	}
	c.Expect("false")
	return c
}

func decodeInt(c Cursor, v reflect.Value) Cursor {
	n := c.Uint()
	if n > math.MaxInt64 || v.OverflowInt(int64(n)) {
		c.fail()
		return c
	}
	v.SetInt(int64(n))
	return c
}

func decodeUint(c Cursor, v reflect.Value) Cursor {
	v.SetUint(c.Uint())
	return c
}

func decodeFloat(c Cursor, v reflect.Value) Cursor {
	f, err := strconv.ParseFloat(string(c.scalar()), 64)
	if err != nil {
		c.fail()
	}
	v.SetFloat(f)
	return c
}

// pointerDecoder returns a decoder for a value or null; "": null is not written.
func pointerDecoder(t reflect.Type, null string) decoder {
	element := decoderOf(t.Elem())
	if element == nil {
		return nil
	}
	return func(c Cursor, v reflect.Value) Cursor {
		if null != "" && c.Accept(null) {
			return c
		}
		v.Set(reflect.New(t.Elem()))
		return element(c, v.Elem())
	}
}

func sliceDecoder(t reflect.Type) decoder {
	element := decoderOf(t.Elem())
	if element == nil {
		return nil
	}
	return func(c Cursor, v reflect.Value) Cursor {
		c.Expect("[")
		if c.Accept("]") {
			v.Set(reflect.MakeSlice(t, 0, 0))
			return c
		}
		for more := true; more; more = c.Accept(",") {
			n := v.Len()
			if n == v.Cap() {
				v.Grow(1)
			}
			v.SetLen(n + 1)
			c = element(c, v.Index(n))
		}
		c.Expect("]")
		return c
	}
}

func mapDecoder(t reflect.Type) decoder {
	element := decoderOf(t.Elem())
	if element == nil || t.Key().Kind() != reflect.String || reflect.PointerTo(t.Key()).Implements(textUnmarshaler) {
		return nil
	}
	return func(c Cursor, v reflect.Value) Cursor {
		v.Set(reflect.MakeMap(t))
		c.Expect("{")
		if c.Accept("}") {
			return c
		}
		for more := true; more; more = c.Accept(",") {
			key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			key.SetString(c.String())
			c.Expect(":")
			c = element(c, value)
			v.SetMapIndex(key, value)
		}
		c.Expect("}")
		return c
	}
}

// A field is one of a struct, those of embedded structs included.
type field struct {
	index    []int
	name     string // as it is written, after a comma
	optional bool
	decode   decoder
}

func structDecoder(t reflect.Type) decoder {
	fields, ok := fieldsOf(t, nil)
	if !ok {
		return nil
	}
	return func(c Cursor, v reflect.Value) Cursor {
		c.Expect("{")
		separator := 1 // bytes of a name that are not written before the first field
		for i := range fields {
			f := &fields[i]
			if c.Accept(f.name[separator:]) {
				c = f.decode(c, v.FieldByIndex(f.index))
				separator = 0
			} else if !f.optional {
				c.fail()
				return c
			}
		}
		c.Expect("}")
		return c
	}
}

// fieldsOf returns the fields in the order in which json.Marshal writes them.
// A field that may be omitted is left out if its type is not supported; if any
// other is not, fieldsOf reports false.
func fieldsOf(t reflect.Type, parent []int) (fields []field, ok bool) {
	for i := range t.NumField() {
		sf := t.Field(i)
		index := append(parent[:len(parent):len(parent)], i)
		tag := sf.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case sf.Anonymous && name == "" && sf.Type.Kind() == reflect.Struct:
			embedded, ok := fieldsOf(sf.Type, index)
			if !ok {
				return nil, false
			}
			fields = append(fields, embedded...)
			continue
		case !sf.IsExported() || tag == "-":
			continue
		case name == "":
			name = sf.Name
		}
		f := field{index, `,"` + name + `":`, options == "omitempty", decoderOf(sf.Type)}
		if f.optional && sf.Type.Kind() == reflect.Pointer {
			f.decode = pointerDecoder(sf.Type, "")
		}
		switch {
		case f.decode != nil:
			fields = append(fields, f)
		case !f.optional:
			return nil, false
		}
	}
	return fields, true
}
