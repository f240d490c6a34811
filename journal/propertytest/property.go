package propertytest

import (
	"flag"
	"strconv"
	"sync"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"pgregory.net/rapid"
)

// portion is the part of the checks of a property that run without -full, as in rapid with -short.
const portion = 5

// Check checks a property like rapid.Check. Without -full, it tries a fifth of the cases of rapid, and with
// -rapid.checks as many as that flag says.
func Check(t rapid.TB, property func(*rapid.T)) {
	t.Helper()
	reduceChecks()
	rapid.Check(t, property)
}

// reduceChecks sets -rapid.checks, once the flags are known.
var reduceChecks = sync.OnceFunc(func() {
	if sizetest.Full() || testing.Short() { // rapid divides the number itself with -short
		return
	}
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "rapid.checks" })
	if chosen {
		return
	}
	checks := flag.Lookup("rapid.checks")
	n, err := strconv.Atoi(checks.DefValue)
	if err == nil {
		err = checks.Value.Set(strconv.Itoa(n / portion))
	}
	if err != nil {
		panic(err) // rapid has another kind of flag
	}
})
