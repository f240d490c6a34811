package historytest

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"maps"
	"strings"
	"testing"
)

// forge returns a valid journal of messages, and its lines. parent is "" or that of a fork, such as A@3.
func forge(t *testing.T, id, parent string, texts ...string) ([]byte, []Line) {
	t.Helper()
	created := fmt.Sprintf(`"sessionId":%q`, id)
	if of, seq, ok := strings.Cut(parent, "@"); ok {
		created += fmt.Sprintf(`,"parent":{"sessionId":%q,"seq":%s}`, of, seq)
	}
	events := []string{`"type":"session.created","data":{` + created + `}`}
	for _, text := range texts {
		kind := "message.appended"
		if strings.HasPrefix(text, "journal.") {
			kind = text
		}
		events = append(events, fmt.Sprintf(`"type":%q,"data":{"content":%q}`, kind, text))
	}
	var journal bytes.Buffer
	var lines []Line
	previous := "00000000"
	for i, event := range events {
		text := fmt.Sprintf(`{"seq":%d,"time":"2026-11-21T02:30:10.123456Z",%s`, i+1, event)
		sum := crc32.Update(0, crc32.MakeTable(crc32.Castagnoli), []byte(previous+text))
		previous = fmt.Sprintf("%08x", sum)
		text += fmt.Sprintf(",\"sum\":%q}\n", previous)
		journal.WriteString(text)
		line, err := ParseLine([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return journal.Bytes(), lines
}

// TestCheck forges what two machines and the hub have, changes it, and compares the kinds of what is found.
func TestCheck(t *testing.T) {
	a, lines := forge(t, "A", "", "one", "two", "journal.recovered", "three", "four")
	journals := Journals{"A": a}
	acknowledged := []Acknowledged{
		{Machine: 0, Session: "A", Lines: lines[1:3]},
		{Machine: 1, Session: "A", Lines: lines[3:5]},
		{Machine: 0, Session: "A", Lines: lines[5:6]},
	}
	with := func(id, parent string, texts ...string) Journals {
		all := maps.Clone(journals)
		all[id], _ = forge(t, id, parent, texts...)
		return all
	}
	forked := func(all Journals, id, parent string, texts ...string) Journals {
		all[id], _ = forge(t, id, parent, texts...)
		return all
	}
	for name, tt := range map[string]struct {
		journals Journals
		found    []Kind
	}{
		"as acknowledged":        {journals: journals},
		"more than acknowledged": {journals: with("A", "", "zero", "one", "two", "three", "four", "five")},
		"lost message":           {with("A", "", "one", "two", "four"), []Kind{Lost}},
		"lost last message":      {with("A", "", "one", "two", "three"), []Kind{Lost}},
		"duplicate":              {with("A", "", "one", "two", "three", "four", "two"), []Kind{Duplicate}},
		"out of order":           {with("A", "", "two", "one", "three", "four"), []Kind{OutOfOrder}},
		"order of two programs":  {with("A", "", "one", "four", "two", "three"), []Kind{OutOfOrder}},
		"order of two machines":  {journals: with("A", "", "three", "one", "two", "four")},
		"in a fork": {
			journals: forked(with("A", "", "one", "two", "five"), "B", "A@3", "one", "two", "three", "four", "journal.sealed"),
		},
		"in a fork that was extended": {
			journals: forked(with("A", "", "one", "two", "five"), "B", "A@3", "one", "journal.recovered", "two", "three", "four"),
		},
		"in a fork of a fork": {
			journals: forked(forked(with("A", "", "one", "two", "five"), "B", "A@3", "one", "two", "three", "six"),
				"C", "B@4", "one", "two", "three", "four"),
		},
		"in a fork of another session": {
			forked(forked(with("A", "", "one", "two", "three"), "B", "", "two"), "C", "B@2", "two", "four"), []Kind{Lost},
		},
		"in the session and in a fork": {with("B", "A@5", "one", "two", "three", "four"), []Kind{Duplicate}},
		"in two forks": {
			forked(forked(with("A", "", "one", "two", "three"), "B", "A@4", "one", "two", "three", "four"),
				"C", "A@4", "one", "two", "three", "four"), []Kind{Duplicate},
		},
		"out of order in a fork": {
			forked(with("A", "", "three"), "B", "A@1", "two", "one", "four"), []Kind{OutOfOrder},
		},
		"fork that differs from its parent": {with("B", "A@3", "one", "2"), []Kind{NotForked, Duplicate}},
		"fork that is too short":            {with("B", "A@3", "one"), []Kind{NotForked, Duplicate}},
		"fork of a missing session":         {with("B", "X@3", "five"), []Kind{NotForked}},
		"no session":                        {Journals{}, []Kind{Lost, Lost, Lost, Lost}},
		"journal of another session":        {Journals{"B": a}, []Kind{Damaged, Lost, Lost, Lost, Lost}},
		"changed line": {
			Journals{"A": bytes.Replace(a, []byte("three"), []byte("THREE"), 1)}, []Kind{Damaged, Lost, Lost},
		},
		"removed line": {
			Journals{"A": append(bytes.Clone(a[:bytes.Index(a, []byte(`{"seq":4`))]),
				a[bytes.Index(a, []byte(`{"seq":5`)):]...)}, []Kind{Damaged, Lost, Lost},
		},
		"torn line": {Journals{"A": a[:len(a)-1]}, []Kind{Damaged, Lost}},
	} {
		t.Run(name, func(t *testing.T) {
			want(t, Check([]Journals{tt.journals, tt.journals}, tt.journals, acknowledged), tt.found...)
		})
	}
}

func want(t *testing.T, found []Violation, kinds ...Kind) {
	t.Helper()
	got, wanted := map[Kind]int{}, map[Kind]int{}
	for _, v := range found {
		got[v.Kind]++
	}
	for _, kind := range kinds {
		wanted[kind]++
	}
	if !maps.Equal(got, wanted) {
		t.Errorf("found %v, want %v", found, kinds)
	}
}

func TestCheckComparesMachines(t *testing.T) {
	a, _ := forge(t, "A", "", "one", "two")
	shorter, _ := forge(t, "A", "", "one")
	b, _ := forge(t, "B", "", "one")
	both := Journals{"A": a, "B": b}
	for name, tt := range map[string]struct {
		first, second, hub Journals
		found              []Kind
	}{
		"equal":                      {both, both, both, nil},
		"a machine is behind":        {both, Journals{"A": shorter, "B": b}, both, []Kind{Differs}},
		"a machine lacks a session":  {Journals{"A": a}, both, both, []Kind{Differs}},
		"the hub lacks a session":    {both, both, Journals{"A": a}, []Kind{Differs, Differs}},
		"the hub has another tail":   {both, both, Journals{"A": shorter, "B": b}, []Kind{Differs, Differs}},
		"a machine has another file": {both, Journals{"A": a, "B": a}, both, []Kind{Differs}},
	} {
		t.Run(name, func(t *testing.T) { want(t, Check([]Journals{tt.first, tt.second}, tt.hub, nil), tt.found...) })
	}
}

func TestCheckHub(t *testing.T) {
	a, lines := forge(t, "A", "", "one", "two", "journal.recovered")
	behind, _ := forge(t, "A", "", "one")
	fork, _ := forge(t, "B", "A@2", "one", "two")
	other, _ := forge(t, "C", "", "one", "two")
	told := Acknowledged{Session: "A", Lines: lines[1:], OnHub: true}
	untold := told
	untold.OnHub = false
	for name, tt := range map[string]struct {
		hub   Journals
		a     Acknowledged
		found []Kind
	}{
		"there":              {Journals{"A": a}, told, nil},
		"in a fork":          {Journals{"A": behind, "B": fork}, told, nil},
		"behind":             {Journals{"A": behind}, told, []Kind{NotOnHub}},
		"in another session": {Journals{"A": behind, "C": other}, told, []Kind{NotOnHub}},
		"empty":              {nil, told, []Kind{NotOnHub, NotOnHub}},
		"not replicated":     {Journals{"A": behind}, untold, nil},
		"damaged":            {Journals{"A": a[:len(a)-1]}, told, []Kind{Damaged}},
	} {
		t.Run(name, func(t *testing.T) { want(t, CheckHub(tt.hub, []Acknowledged{tt.a}), tt.found...) })
	}
}

func TestCheckUnforked(t *testing.T) {
	a, lines := forge(t, "A", "", "one", "two", "journal.recovered")
	behind, _ := forge(t, "A", "", "one")
	fork, _ := forge(t, "B", "A@2", "one", "two")
	claimed := Acknowledged{Session: "A", Lines: lines[1:], Claimed: true}
	unclaimed := Acknowledged{Session: "A", Lines: lines[1:]}
	for name, tt := range map[string]struct {
		journals Journals
		a        Acknowledged
		found    []Kind
	}{
		"in the session":  {Journals{"A": a}, claimed, nil},
		"in a fork":       {Journals{"A": behind, "B": fork}, claimed, []Kind{Forked}},
		"unclaimed":       {Journals{"A": behind, "B": fork}, unclaimed, nil},
		"missing session": {Journals{"B": fork}, claimed, []Kind{Forked, Forked}},
		"damaged":         {Journals{"A": a[:len(a)-1]}, claimed, []Kind{Damaged}},
	} {
		t.Run(name, func(t *testing.T) { want(t, CheckUnforked(tt.journals, []Acknowledged{tt.a}), tt.found...) })
	}
}

func TestCheckPositions(t *testing.T) {
	_, one := forge(t, "A", "", "one", "two")
	_, other := forge(t, "A", "", "one", "three")
	_, moved := forge(t, "A", "", "zero", "two")
	by := func(machine int, session string, claimed bool, lines []Line) Acknowledged {
		return Acknowledged{Machine: machine, Session: session, Claimed: claimed, Lines: lines}
	}
	unplaced := other[2]
	unplaced.Seq = 0
	for name, tt := range map[string]struct {
		second Acknowledged
		found  []Kind
	}{
		"the same":               {by(1, "A", true, one), nil},
		"another message":        {by(1, "A", true, other), []Kind{TwoContents}},
		"another predecessor":    {by(1, "A", true, moved), []Kind{TwoContents, TwoContents}},
		"by the same machine":    {by(0, "A", true, other), []Kind{TwoContents}},
		"unclaimed":              {by(1, "A", false, other), nil},
		"of another session":     {by(1, "B", true, other), nil},
		"in no journal":          {by(1, "A", true, []Line{unplaced}), nil},
		"a following position":   {by(1, "A", true, one[2:]), nil},
		"after an unclaimed one": {by(1, "A", true, other[2:]), []Kind{TwoContents}},
	} {
		t.Run(name, func(t *testing.T) {
			want(t, CheckPositions([]Acknowledged{by(0, "A", true, one), tt.second}), tt.found...)
		})
	}
}
