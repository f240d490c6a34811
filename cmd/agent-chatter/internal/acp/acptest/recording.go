package acptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// A Side is one end of a connection.
type Side string

// The sides.
const (
	Agent  Side = "agent"
	Client Side = "client"
)

// A Recording checks the lines of one connection. It is not safe for concurrent use.
type Recording struct {
	schemas []*schema                    // the stable one and the unstable one
	open    map[Side]map[string][]string // the methods of requests without a response, by the side that answers and id
}

// NewRecording returns the Recording of a connection. An error means that the schema could not be read.
func NewRecording() (*Recording, error) {
	schemas, err := schemas()
	if err != nil {
		return nil, err
	}
	return &Recording{schemas: schemas, open: map[Side]map[string][]string{Agent: {}, Client: {}}}, nil
}

// Unanswered returns the methods of the requests to a side that have no response.
func (r *Recording) Unanswered(side Side) (methods []string) {
	for _, open := range r.open[side] {
		methods = append(methods, open...)
	}
	return methods
}

// A message is a line of a connection.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// Check returns why a line that a side has written does not match the schema. The line may end in a line break.
func (r *Recording) Check(from Side, line []byte) error {
	m, err := parse(line)
	if err == nil {
		err = r.check(from, m)
	}
	if err != nil {
		return fmt.Errorf("%w\n  in the line of the %s: %.500s", err, from, line)
	}
	return nil
}

func parse(line []byte) (m message, err error) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	if bytes.ContainsAny(line, "\r\n") {
		return m, errors.New("a message has several lines")
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		return m, err
	}
	if decoder.More() {
		return m, errors.New("a line has several messages")
	}
	if m.Version != "2.0" {
		return m, fmt.Errorf("jsonrpc is %q", m.Version)
	}
	return m, nil
}

func (r *Recording) check(from Side, m message) error {
	to := Client
	if from == Client {
		to = Agent
	}
	switch {
	case m.Method != nil && (m.Result != nil || m.Error != nil):
		return errors.New("a message is a request and a response")
	case m.Method != nil && m.ID == nil:
		return r.checkParams(*m.Method, to, notification, m.Params)
	case m.Method != nil:
		if !isID(m.ID) {
			return fmt.Errorf("a request has the id %s", m.ID)
		}
		open := r.open[to]
		open[string(m.ID)] = append(open[string(m.ID)], *m.Method)
		return r.checkParams(*m.Method, to, request, m.Params)
	case (m.Result == nil) == (m.Error == nil):
		return errors.New("a response has not exactly one of result and error")
	}
	return r.checkResponse(from, m)
}

// isID reports whether a request may have the id: a number without a fraction, or a string.
func isID(id json.RawMessage) bool {
	var number int64
	var text string
	return string(id) != "null" && (json.Unmarshal(id, &number) == nil || json.Unmarshal(id, &text) == nil)
}

// checkResponse checks a response and forgets the request. If a client uses an id again, the second request gets an
// error. An error for a line that could not be read as a request has the id null, or any.
func (r *Recording) checkResponse(from Side, m message) error {
	id := string(m.ID)
	methods := r.open[from][id]
	if len(methods) > 1 && m.Error != nil {
		r.open[from][id] = methods[:len(methods)-1]
	} else if len(methods) > 1 {
		r.open[from][id] = methods[1:]
	} else {
		delete(r.open[from], id)
	}
	switch {
	case m.Error != nil && id != "null" && !isID(m.ID):
		return fmt.Errorf("an error has the id %q", id)
	case m.Error != nil:
		return validate(r.schemas[0].fault, m.Error)
	case len(methods) == 0:
		return fmt.Errorf("no request has the id %s", m.ID)
	}
	return r.checkParams(methods[0], from, response, m.Result)
}

// checkParams checks the parameters or the result of a method that a side handles.
func (r *Recording) checkParams(method string, side Side, kind kind, value json.RawMessage) error {
	if strings.HasPrefix(method, "_") { // an extension
		return nil
	}
	schemas := r.schemas
	if method == "session/update" && !slices.Contains(schemas[0].updates, updateKind(value)) {
		schemas = schemas[1:]
	}
	for _, s := range schemas {
		for _, side := range []string{string(side), "both", "protocol"} {
			if compiled, ok := s.types[typeKey{method, side, kind}]; ok {
				if err := validate(compiled, value); err != nil {
					return fmt.Errorf("%s, %s: %w", method, kind, err)
				}
				return nil
			}
		}
	}
	return fmt.Errorf("the %s handles no %s %s", side, strings.ToLower(string(kind)), method)
}

// updateKind returns the kind of a session update; "" if it has none.
func updateKind(params json.RawMessage) string {
	var of struct {
		Update struct {
			Kind string `json:"sessionUpdate"`
		} `json:"update"`
	}
	_ = json.Unmarshal(params, &of) // the schema says what is wrong
	return of.Update.Kind
}

func validate(s *jsonschema.Schema, document json.RawMessage) error {
	if document == nil {
		document = json.RawMessage("null")
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	err := s.Validate(value)
	if invalid := (*jsonschema.ValidationError)(nil); errors.As(err, &invalid) {
		return errors.New(strings.Join(reasons(invalid), "; "))
	}
	return err
}

// reasons returns the innermost reasons of an error.
func reasons(e *jsonschema.ValidationError) (all []string) {
	if len(e.Causes) == 0 {
		return []string{fmt.Sprintf("%s: %s", e.InstanceLocation, e.Message)}
	}
	for _, cause := range e.Causes {
		all = append(all, reasons(cause)...)
	}
	return all
}
