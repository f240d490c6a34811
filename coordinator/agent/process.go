package agent

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

const (
	stderrKept = 4 << 10 // bytes of standard error that an ExitError shows

	// How long to wait for the end of processes that were killed. Only one that the kernel
	// itself holds up, on a dead network disk for example, takes longer than a moment.
	killWait = 2 * time.Second
)

// A process is the running program of a turn, with its process group.
//
// Three goroutines serve it beside the consumer's: one feeds standard input, one reads standard
// output, one standard error. A fourth reaps the program, and the supervisor ends the group.
// None of them depends on the consumer: a turn can be stopped while the consumer is busy.
type process struct {
	turn   Turn
	asks   asks
	group  group
	stdin  io.WriteCloser
	stdout *os.File // our ends of the pipes
	stderr *os.File

	texts   chan string   // the reply; closed at its end
	unheard chan struct{} // closed when nobody receives from texts any more
	exited  chan struct{} // closed when the program was reaped; state and waitErr are set
	over    chan struct{} // closed when no process of the group is alive
	readers sync.WaitGroup
	state   *os.ProcessState
	waitErr error
	tail    tail // of standard error; to be read when the readers are done

	// What was started in sessions of its own ends with a turn that is stopped, and stays
	// otherwise. The supervisor's until over is closed, then the consumer's.
	straysEnded bool
	kin         kin  // of the program, when it was asked to end; may be strays
	completed   bool // the program ended by itself and the consumer heard all of it
}

// kin are processes by their ids, with when they started: an id may be another's later.
type kin map[int]string

// company are the living processes that belong to the program, as far as is known; nil is not at
// all.
func (p *process) company() map[int]struct{} {
	all := marked(p.turn.ID)
	for pid := range kinOf(p.group.leader.Pid) {
		all[pid] = struct{}{}
	}
	return all
}

// asks is how a program is asked to end, before it is killed.
type asks int

const (
	plainly asks = iota // with SIGTERM
	gently              // with SIGINT first, at which it says how far it came
)

// start starts the program and all that serves it but the supervisor. feed writes to its
// standard input, which is closed when feed returns; an error means that the program does not
// read, or has ended, which is its own affair. The errors of start are *StartErrors.
func start(turn Turn, asks asks, feed func(io.Writer)) (*process, error) {
	path, err := lookup(turn)
	if err != nil {
		return nil, &StartError{Command: turn.Member.Command, Err: err}
	}
	cmd := exec.Command(path, turn.Member.Args...)
	cmd.Dir = turn.Dir
	cmd.Env = environment(os.Environ(), turn)
	leadGroup(cmd)
	p := &process{
		turn:    turn,
		asks:    asks,
		texts:   make(chan string),
		unheard: make(chan struct{}),
		exited:  make(chan struct{}),
		over:    make(chan struct{}),
		tail:    tail{limit: stderrKept},
	}
	if err := p.startPiped(cmd); err != nil {
		return nil, &StartError{Command: turn.Member.Command, Err: err}
	}
	p.group = group{cmd.Process}
	p.serve(cmd.Process, feed)
	return p, nil
}

// startPiped starts cmd with pipes on its three standard files. When Start fails it has
// closed them; those that were made before another could not be are closed when collected.
func (p *process) startPiped(cmd *exec.Cmd) error {
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	stderr, err3 := cmd.StderrPipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	// They are files, though the signatures do not say it: pump needs their deadlines.
	p.stdin, p.stdout, p.stderr = stdin, stdout.(*os.File), stderr.(*os.File)
	err := cmd.Start()
	if pathErr := (*os.PathError)(nil); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// serve starts the goroutines that feed, read and reap the program.
func (p *process) serve(program *os.Process, feed func(io.Writer)) {
	go func() {
		defer p.stdin.Close()
		feed(p.stdin)
	}()
	p.readers.Go(p.readReply)
	p.readers.Go(func() { p.pump(p.stderr, p.tail.write) })
	go func() {
		// Not cmd.Wait, which would close the pipes before they are empty.
		p.state, p.waitErr = program.Wait()
		close(p.exited)
	}()
}

// tell feeds a program the text.
func tell(text string) func(io.Writer) {
	return func(stdin io.Writer) { _, _ = io.WriteString(stdin, text) }
}

// readReply hands standard output to the consumer.
func (p *process) readReply() {
	defer close(p.texts)
	var s splitter
	p.pump(p.stdout, func(chunk []byte) { p.say(s.next(chunk)) })
	p.say(s.rest())
}

// say waits until the consumer has taken the text. Nobody listening, it is dropped, so that
// a program that is asked to stop can write what it likes and does not wait for a reader.
func (p *process) say(text string) {
	if text == "" {
		return
	}
	select {
	case p.texts <- text:
	case <-p.unheard:
	}
}

// supervise sees to it that the group ends: when the program exits, when ctx is done, or
// when the function that it returns is called, which returns when everything has ended.
func (p *process) supervise(ctx context.Context, grace time.Duration) (end func()) {
	ctx, stop := context.WithCancel(ctx)
	go p.endGroup(ctx, grace)
	return func() {
		stop()
		close(p.unheard)
		<-p.over
		if !p.completed {
			p.endStrays()
		}
		p.readers.Wait()
	}
}

// endGroup waits for the program's exit or for ctx, then ends what is left of the group.
func (p *process) endGroup(ctx context.Context, grace time.Duration) {
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.kin = kinOf(p.group.leader.Pid)
		p.askToEnd(grace)
	}
	// The program may have been reaped just now, and its id is free if the group is empty.
	// No process can have got that id and made it a group's in the same moment.
	p.group.kill()
	<-p.exited
	p.group.awaitEnd(time.After(killWait))
	if ctx.Err() != nil {
		p.endStrays()
	}
	p.stdin.Close() // a feeder that still writes to somebody outside of the group gives up
	// The deadlines wake the readers. They come before over is closed: then the readers go
	// on to what is left, without a deadline.
	_ = p.stdout.SetReadDeadline(time.Now())
	_ = p.stderr.SetReadDeadline(time.Now())
	close(p.over)
}

// endStrays ends what has left the group, once.
func (p *process) endStrays() {
	if !p.straysEnded {
		endStrays(p.turn.ID, p.kin)
		p.straysEnded = true
	}
}

// askToEnd tells the group to end and returns when it has, or when it was given grace for
// each way of telling.
func (p *process) askToEnd(grace time.Duration) {
	if p.asks == gently && p.ask(p.group.interrupt, grace) {
		return
	}
	p.ask(p.group.terminate, grace)
}

// ask tells the group to end, and reports whether it has before grace was over. It waits for
// the whole group, not just for the program: the one that cleans up is often a child.
func (p *process) ask(tell func(), grace time.Duration) bool {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	tell()
	select {
	case <-p.exited:
		return p.group.awaitEnd(timer.C)
	case <-timer.C:
		return false
	}
}

// ended reports whether the program has.
func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// result waits for the end and says how the turn went.
func (p *process) result(ctx context.Context) error {
	<-p.over
	p.readers.Wait()
	if ctx.Err() != nil {
		p.endStrays() // ctx may have been done after the program's exit
		return stopped(ctx)
	}
	p.completed = true
	switch {
	case p.waitErr != nil:
		return fmt.Errorf("%q ran, but how it ended is not known: %w", p.turn.Member.Command, p.waitErr)
	case p.state.Success():
		return nil
	}
	failure := &ExitError{
		Command: p.turn.Member.Command,
		Code:    p.state.ExitCode(),
		Stderr:  p.tail.text(),
	}
	if status, ok := p.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		failure.Signal = status.Signal().String()
	}
	return failure
}
