package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// TurnVariable is the environment variable that every process of a turn carries. Its value is
// Program.TurnID.
const TurnVariable = "AGENT_CHATTER_TURN"

// ownerVariable is the environment variable that identifies the process which started the turn.
// A process without it has no owner.
const ownerVariable = "AGENT_CHATTER_OWNER"

// KillWait is how long to wait for killed processes to end. Only one that the kernel blocks, on
// a dead network file system for example, takes longer than a moment.
const KillWait = 2 * time.Second

// stderrKept is how many bytes of standard error an ExitError contains.
const stderrKept = 4 << 10

// A Program is what to run.
type Program struct {
	// TurnID is the value of TurnVariable, unique among all turns.
	TurnID string
	// Command is a name to look up in PATH, or a path, relative to Dir unless it is absolute. It
	// is never passed to a shell.
	Command string
	// Args are the arguments without the program's name.
	Args []string
	// Env is added to the parent's environment and overrides it; its PATH is also where Command
	// is looked up.
	Env map[string]string
	// Dir is the working directory; "" is the current one.
	Dir string
	// Guard ends the program when this process dies; nil is none.
	Guard *Guard
	// Interrupt makes a stop send SIGINT, and only after another grace period SIGTERM.
	Interrupt bool
}

// A Process is a running program with its process group.
//
// Three goroutines serve it: one feeds standard input, one reads standard output, one standard
// error. A fourth reaps the program, and the supervisor ends the group. None depends on the
// consumer: a turn can be stopped while the consumer is busy.
type Process struct {
	program Program
	group   group
	stdin   io.WriteCloser
	stdout  *os.File // our ends of the pipes
	stderr  *os.File

	texts   chan string
	discard chan struct{} // closed when the consumer has stopped receiving from texts
	exited  chan struct{} // closed when the program was reaped; state and waitErr are set
	done    chan struct{}
	readers sync.WaitGroup
	state   *os.ProcessState
	waitErr error
	tail    tail // of standard error; to be read when the readers have ended

	// Used by the supervisor until done is closed, then by the consumer.
	detachedEnded bool
	descendants   pids // of the program, when it was asked to end
	completed     bool // the program exited by itself and the consumer received all of its output
}

// Start starts a program, all goroutines that serve it except the supervisor, and feed, which
// writes to its standard input. The input is closed when feed returns. feed may ignore errors of
// writing: they mean that the program does not read, or has exited. The caller must call
// Supervise. Errors are *StartErrors.
func Start(program Program, feed func(io.Writer)) (*Process, error) {
	path, err := lookup(program)
	if err != nil {
		return nil, &StartError{Command: program.Command, Err: err}
	}
	cmd := exec.Command(path, program.Args...)
	cmd.Dir = program.Dir
	cmd.Env = environment(os.Environ(), program)
	leadGroup(cmd)
	p := &Process{
		program: program,
		texts:   make(chan string),
		discard: make(chan struct{}),
		exited:  make(chan struct{}),
		done:    make(chan struct{}),
		tail:    tail{limit: stderrKept},
	}
	program.Guard.note(guardedRunning, program.TurnID)
	if err := p.startPiped(cmd); err != nil {
		program.Guard.note(guardedEnded, program.TurnID)
		return nil, &StartError{Command: program.Command, Err: err}
	}
	p.group = group{cmd.Process}
	p.serve(cmd.Process, feed)
	return p, nil
}

// Write returns a function for Start that writes the text to standard input.
func Write(text string) (feed func(io.Writer)) {
	return func(stdin io.Writer) { _, _ = io.WriteString(stdin, text) }
}

// startPiped starts cmd with pipes as its standard files. If Start fails it has closed them;
// those that were made before another one failed are closed by the garbage collector.
func (p *Process) startPiped(cmd *exec.Cmd) error {
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	stderr, err3 := cmd.StderrPipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	// They are files, although the signatures do not say so: pump needs their deadlines.
	p.stdin, p.stdout, p.stderr = stdin, stdout.(*os.File), stderr.(*os.File)
	err := cmd.Start()
	if pathErr := (*os.PathError)(nil); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// serve starts the goroutines that feed, read and reap the program.
func (p *Process) serve(program *os.Process, feed func(io.Writer)) {
	go func() {
		defer p.stdin.Close()
		feed(p.stdin)
	}()
	p.readers.Go(p.readOutput)
	p.readers.Go(func() { p.pump(p.stderr, p.tail.write) })
	go func() {
		// Not cmd.Wait, which would close the pipes before they are empty.
		p.state, p.waitErr = program.Wait()
		close(p.exited)
	}()
}

// readOutput sends standard output to texts.
func (p *Process) readOutput() {
	defer close(p.texts)
	// Without a consumer the text is dropped, so that a program that was asked to end never
	// blocks on a full pipe.
	send := func(text string) {
		if text == "" {
			return
		}
		select {
		case p.texts <- text:
		case <-p.discard:
		}
	}
	var s splitter
	p.pump(p.stdout, func(chunk []byte) { send(s.next(chunk)) })
	send(s.rest())
}

// Texts returns the channel of standard output, in pieces that do not cut valid UTF-8 sequences.
// It is closed at the end of the output.
func (p *Process) Texts() <-chan string { return p.texts }

// Exited returns a channel that is closed when the program has exited.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Done returns a channel that is closed when no process of the group is alive.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stderr returns the end of standard error, at most 4 KiB, as trimmed valid UTF-8. It may be
// called after Wait.
func (p *Process) Stderr() string { return p.tail.text() }

// Related returns the living processes that belong to the program: those that carry its turn's
// id, and its descendants. It is nil if the system does not report them.
func (p *Process) Related() map[int]struct{} {
	all, _ := carriers(p.program.TurnID)
	for pid := range descendantsOf(p.group.leader.Pid) {
		all[pid] = struct{}{}
	}
	return all
}

// KeepDetached makes end, the function that Supervise returned, leave the detached processes
// alone. It must not be called concurrently with end, or when the context of Supervise can be done.
func (p *Process) KeepDetached() { p.detachedEnded = true }

// Supervise ends the group in the background when the program exits, when ctx is done, or when
// end is called. end blocks until everything has ended; it must be called once. The group gets
// the grace period after each signal that asks it to end.
func (p *Process) Supervise(ctx context.Context, grace time.Duration) (end func()) {
	ctx, stop := context.WithCancel(ctx)
	go p.endGroup(ctx, grace)
	return func() {
		stop()
		close(p.discard)
		<-p.done
		if !p.completed {
			p.endDetached()
		}
		p.readers.Wait()
		p.program.Guard.note(guardedEnded, p.program.TurnID)
	}
}

// SetIdle says whether the program is between two turns. Its detached processes are then left alone
// when this process dies.
func (p *Process) SetIdle(idle bool) {
	state := guardedRunning
	if idle {
		state = guardedIdle
	}
	p.program.Guard.note(state, p.program.TurnID)
}

// endGroup waits for the program's exit or for ctx, then ends the rest of the group.
func (p *Process) endGroup(ctx context.Context, grace time.Duration) {
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.descendants = descendantsOf(p.group.leader.Pid)
		if !p.program.Interrupt || !p.ask(p.group.interrupt, grace) {
			p.ask(p.group.terminate, grace)
		}
	}
	// The program may have been reaped, and its id is free if the group is empty. A process that
	// received this id and became a group leader within this moment is not plausible.
	p.group.kill()
	<-p.exited
	p.group.awaitEnd(time.After(KillWait))
	if ctx.Err() != nil {
		p.endDetached()
	}
	p.stdin.Close() // unblocks a feeder that writes to a process outside of the group
	// The deadlines wake the readers. They are set before done is closed: after that the readers
	// read what is left, without a deadline.
	_ = p.stdout.SetReadDeadline(time.Now())
	_ = p.stderr.SetReadDeadline(time.Now())
	close(p.done)
}

// endDetached kills the turn's processes outside of the group, once.
func (p *Process) endDetached() {
	if !p.detachedEnded {
		endDetached(p.program.TurnID, p.descendants)
		p.detachedEnded = true
	}
}

// ask signals the group and reports whether it ended within the grace period. It waits for the
// entire group: the process that cleans up is often a child.
func (p *Process) ask(signal func(), grace time.Duration) bool {
	expired := time.After(grace)
	signal()
	select {
	case <-p.exited:
		return p.group.awaitEnd(expired)
	case <-expired:
		return false
	}
}

// Wait blocks until the group has ended and its output was read, and returns how the program
// exited: nil for exit code 0, an *ExitError, or Stopped(ctx) if ctx is done. ctx is the context
// of Supervise.
func (p *Process) Wait(ctx context.Context) error {
	<-p.done
	p.readers.Wait()
	if ctx.Err() != nil {
		p.endDetached() // ctx may have been done after the program's exit
		return Stopped(ctx)
	}
	p.completed = true
	switch {
	case p.waitErr != nil:
		return fmt.Errorf("exit status of %q is unknown: %w", p.program.Command, p.waitErr)
	case p.state.Success():
		return nil
	}
	failure := &ExitError{Command: p.program.Command, Code: p.state.ExitCode(), Stderr: p.tail.text()}
	if status, ok := p.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		failure.Signal = status.Signal().String()
	}
	return failure
}

// Stopped returns the error of a turn whose context is done. It wraps the context's cause.
func Stopped(ctx context.Context) error {
	return fmt.Errorf("turn stopped: %w", context.Cause(ctx))
}
