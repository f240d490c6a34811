// Pack writes the files of a release whose bytes do not depend on the machine that builds them.
//
//	go run ./.ci/pack archive OUTPUT DIR           DIR as a .tar.gz or a .zip, by the name of OUTPUT
//	go run ./.ci/pack sbom OUTPUT VERSION BINARY…  the modules of the binaries, as SPDX 2.3
//
// All times are SOURCE_DATE_EPOCH, in seconds since 1970.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	at := time.Unix(seconds, 0).UTC()
	switch {
	case len(args) == 3 && args[0] == "archive":
		return archive(args[1], args[2], at)
	case len(args) > 3 && args[0] == "sbom":
		return sbom(args[1], args[2], args[3:], at)
	}
	return errors.New("usage: pack archive OUTPUT DIR | pack sbom OUTPUT VERSION BINARY…")
}
