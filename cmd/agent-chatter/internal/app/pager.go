package app

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

// Page calls print, which does nothing but write, with a writer to the pager of the person: $PAGER, else less. It
// returns when the pager ends. If a person does not both type and read, or there is no pager, print writes to standard
// output.
func (p *Printer) Page(print func(w io.Writer) error) error {
	pager := strings.Fields(cmp.Or(os.Getenv("PAGER"), "less"))
	if !p.IsTerminal() || len(pager) == 0 || pager[0] == "cat" {
		return print(p.Stdout)
	}
	c := exec.Command(pager[0], pager[1:]...)
	c.Stdout, c.Stderr = p.Stdout, p.Stderr
	if out, ok := p.Stdout.(*Output); ok {
		c.Stdout = out.File // a terminal, not a pipe
	}
	if os.Getenv("LESS") == "" { // end if all is on one screen, show colours, leave the page on the screen
		c.Env = append(c.Environ(), "LESS=FRX")
	}
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt) // Ctrl+C is for the pager
	defer signal.Stop(interrupts)
	if c.Start() != nil {
		return print(p.Stdout)
	}
	_ = print(in) // it fails if the pager ends before it has read everything
	_ = in.Close()
	if err := c.Wait(); err != nil {
		return fmt.Errorf("the pager %s: %w", strings.Join(pager, " "), err)
	}
	return nil
}
