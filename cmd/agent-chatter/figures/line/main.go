// Command line prints a line: the least that a Go program with output costs.
package main

import "fmt"

func main() { fmt.Println("a line") }
