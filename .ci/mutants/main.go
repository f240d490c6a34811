// Mutants changes the program in small ways and checks that a test fails for each change.
// A changed program is a mutant. It is killed if a test fails, and survives otherwise.
//
//	go run ./.ci/mutants                       the fixed list, list.txt
//	go run ./.ci/mutants -check                read the list, and test nothing
//	go run ./.ci/mutants -random 150 -seed 7   a random sample of all packages
//	go run ./.ci/mutants -random 20 -in journal/
//
// The files of the work tree are not touched: the go command gets each changed file as an
// overlay. The exit code is 1 if a mutant of the list survives, or more than a tenth of
// the sample. equivalent.txt lists mutants that do not change the behaviour.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// testTimeout ends the tests of a mutant that does not terminate, which counts as killed. It
// is a limit of each test binary, not of the go command, which would leave its children
// running: a test binary ends itself and the scripts that it runs.
const testTimeout = 5 * time.Minute

// A mutant is one changed file.
type mutant struct {
	path    string   // of the file, relative to the root
	name    string   // the change, as in reports and equivalent.txt
	content []byte   // of the changed file
	tests   []string // arguments of go test; nil: those of the package, then of its layer
}

// An outcome is what the tests made of a mutant.
type outcome int

const (
	killed outcome = iota
	survived
	broken // it does not compile
)

func main() {
	check := flag.Bool("check", false, "only check that each mutant of the list still applies")
	random := flag.Int("random", 0, "number of mutants to sample; 0: test the fixed list")
	seed := flag.Uint64("seed", 1, "seed of the sample")
	in := flag.String("in", "", "sample only files whose path has this prefix")
	parallel := flag.Int("parallel", 2, "mutants that are tested at the same time")
	flag.Parse()
	if err := run(*check, *random, *seed, *in, *parallel); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(check bool, random int, seed uint64, in string, parallel int) error {
	if random == 0 {
		list, err := readList(".ci/mutants/list.txt")
		if err != nil || check {
			return err
		}
		results := testAll(list, len(list), parallel)
		if results[survived]+results[broken] > 0 {
			return fmt.Errorf("%d of %d mutants survived, %d do not compile",
				results[survived], len(list), results[broken])
		}
		fmt.Printf("all %d mutants of the list were killed\n", len(list))
		return nil
	}
	all, err := candidates(in)
	if err != nil {
		return err
	}
	fmt.Printf("%d possible mutants, seed %d\n", len(all), seed)
	shuffle(all, seed)
	results := testAll(all, random, parallel)
	tested := results[killed] + results[survived]
	fmt.Printf("%d of %d mutants were killed\n", results[killed], tested)
	if 10*results[survived] > tested {
		return errors.New("more than a tenth survived")
	}
	return nil
}

// testAll tests mutants until at least n of them compiled, and prints each outcome.
func testAll(mutants []mutant, n, parallel int) map[outcome]int {
	var mu sync.Mutex
	results := map[outcome]int{}
	next := make(chan mutant)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for m := range next {
				o := test(m)
				mu.Lock()
				results[o]++
				fmt.Printf("%-8s  %s: %s\n", [...]string{"killed", "SURVIVED", "broken"}[o], m.path, m.name)
				mu.Unlock()
			}
		})
	}
	for _, m := range mutants {
		mu.Lock()
		enough := results[killed]+results[survived] >= n
		mu.Unlock()
		if enough {
			break
		}
		next <- m
	}
	close(next)
	workers.Wait()
	return results
}

// test runs the tests of a mutant: those of its package and, if it survives them, those of
// the packages of its layer.
func test(m mutant) outcome {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	changed := filepath.Join(dir, filepath.Base(m.path))
	original, err := filepath.Abs(m.path)
	if err != nil {
		panic(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	description, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		panic(err)
	}
	if err := errors.Join(os.WriteFile(changed, m.content, 0o600), os.WriteFile(overlay, description, 0o600)); err != nil {
		panic(err)
	}
	pkg := "./" + filepath.ToSlash(filepath.Dir(m.path))
	if !passes(overlay, "build", pkg) {
		return broken
	}
	stages := [][]string{m.tests}
	if m.tests == nil {
		layer, _, _ := strings.Cut(m.path, "/")
		stages = [][]string{{"-short", pkg}, {"-short", "./" + layer + "/..."}}
	}
	for _, args := range stages {
		if !passes(overlay, append([]string{"test", "-vet=off", "-failfast", "-timeout", testTimeout.String()}, args...)...) {
			return killed
		}
	}
	return survived
}

// passes runs the go command with an overlay, which the go commands of tests inherit.
func passes(overlay string, args ...string) bool {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOFLAGS=-overlay="+overlay)
	return cmd.Run() == nil
}
