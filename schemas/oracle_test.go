package schemas

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// baseURL is the prefix of the $id values of the schemas.
const baseURL = "https://github.com/agent-chatter/agent-chatter/raw/main/schemas/"

// oracle compiles the schemas with a complete validator, which would take a fifth of the start of the program.
func oracle(t testing.TB) map[string]*jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		if !strings.HasPrefix(url, baseURL) {
			return nil, fmt.Errorf("%s is not one of our schemas", url)
		}
		return files.Open(path.Base(url))
	}
	c.Formats["date-time"] = func(value any) bool {
		text, ok := value.(string) // package time has no leap seconds
		return !ok || jsonschema.Formats["date-time"](text) && new(time.Time).UnmarshalText([]byte(text)) == nil
	}
	compiled := map[string]*jsonschema.Schema{}
	for _, name := range names() {
		var err error
		if compiled[name], err = c.Compile(baseURL + name + ".json"); err != nil {
			t.Fatal(err)
		}
	}
	return compiled
}

// agree checks that both validators accept a document, or that both refuse it.
func agree(t *testing.T, oracle *jsonschema.Schema, name string, document any) {
	t.Helper()
	r, err := ruleOf(name)
	if err != nil {
		t.Fatal(err)
	}
	faults, refusal := r.check(document), oracle.Validate(document)
	if (len(faults) == 0) != (refusal == nil) {
		text, _ := json.Marshal(document)
		t.Errorf("%s: our problems: %v; another validator: %v; document:\n%s", name, explain(faults), refusal, text)
	}
}

func TestVerdictsAreThoseOfACompleteValidator(t *testing.T) {
	oracle := oracle(t)
	for _, dir := range []string{"valid", "invalid"} {
		for _, file := range samples(t, dir) {
			t.Run(filepath.Base(file), func(t *testing.T) {
				document, problem := decode(read(t, file))
				if problem != nil {
					return
				}
				name := schemaOf(t, file)
				agree(t, oracle[name], name, document)
				random := rand.New(rand.NewPCG(1, uint64(len(file))))
				for i := 0; i < 100 && !t.Failed(); i++ {
					document, _ := decode(read(t, file))
					agree(t, oracle[name], name, change(random, document))
				}
			})
		}
	}
}

func TestTimesAreThoseOfACompleteValidator(t *testing.T) {
	oracle := oracle(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, text := range []string{"2026-11-21T02:30:10Z", "2026-11-21T02:30:10.123+02:00", "2024-02-29T00:00:00-23:59"} {
		for range 2000 {
			changed := []byte(text)
			for range 1 + random.IntN(3) {
				i := random.IntN(len(changed))
				changed = slices.Replace(changed, i, i+random.IntN(2), "0123456789TtZz:.,+- "[random.IntN(20)])
			}
			document := map[string]any{"version": "1.0.0", "sessions": []any{}, "updatedAt": string(changed)}
			agree(t, oracle[SessionIndex], SessionIndex, document)
		}
	}
}

// change returns a document with a change at a random place.
func change(random *rand.Rand, value any) any {
	if random.IntN(4) == 0 {
		return odd[random.IntN(len(odd))]
	}
	switch value := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(value))
		if len(names) == 0 || random.IntN(8) == 0 {
			value["other"] = true
			return value
		}
		name := names[random.IntN(len(names))]
		if random.IntN(4) == 0 {
			delete(value, name)
			return value
		}
		value[name] = change(random, value[name])
		return value
	case []any:
		if len(value) == 0 || random.IntN(8) == 0 {
			return append(value, odd[random.IntN(len(odd))])
		}
		i := random.IntN(len(value))
		value[i] = change(random, value[i])
		return value
	}
	return odd[random.IntN(len(odd))]
}

// odd are values that a keyword may refuse.
var odd = []any{
	nil, true, false, 0.0, 1.0, -1.0, 1.5, 1e300, 2.0, "", "x", "1.0", "1.1", "1.2", "2", "human", "ai", "a b", "0123abcd",
	"2026-11-21T02:30:10Z", "2026-11-21T02:30:10.5+02:00", "2026-11-21", "2026-11-21t02:30:10z", "2026-11-21T23:59:60Z",
	"2026-11-21T2:30:10Z", "eHg=", "eHg", "e\\nHg=", "turn.ended", "message.appended", "session.created", "no type",
	[]any{}, []any{"x"}, []any{1.0, nil}, map[string]any{}, map[string]any{"v": 2.0}, map[string]any{"type": "human"},
}
