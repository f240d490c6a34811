package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/oklog/ulid/v2"
)

// verification is a run of `agents verify`.
type verification struct {
	*app.App
	ctx        context.Context
	engines    map[string]agent.Engine
	skipDryRun bool
	timeout    time.Duration
	version    string // of the program verified last
}

// The checks of an agent.
const (
	checkExecutable     = "executable"
	checkAuthentication = "authentication"
	checkDryRun         = "dry run"
)

// try runs the checks of a member. A program that does not start fails all of them.
func (v *verification) try(m target) []app.Finding {
	defer v.Begin("Verifying " + tty.SafeLine(m.Name))()
	v.version = ""
	executable := v.executable(m)
	if executable.State == app.StateWrong {
		return []app.Finding{executable}
	}
	authentication := v.authentication(m)
	if v.skipDryRun {
		return []app.Finding{executable, authentication}
	}
	answer := v.dryRun(m)
	switch {
	case answer.State != app.StateWrong && authentication.State == app.StateWrong:
		// Its key comes from a place that its login status does not cover.
		authentication = answersText(authentication.What)
	case answer.State != app.StateWrong && authentication.State == app.StateNote:
		authentication = app.Fine("confirmed by the answer")
	}
	authentication.Check = checkAuthentication
	return []app.Finding{executable, authentication, answer}
}

// known returns the known agent that the member runs; the zero Known if it is unknown.
func (m target) known() agent.Known {
	if known, ok := agent.Recognize(m.Command, m.Args); ok {
		return known
	}
	if m.Command != "" {
		return agent.Known{}
	}
	known, _ := agent.Default(m.EngineName(), m.AgentType)
	return known
}

// turn returns a turn with a prompt for the member.
func (m target) turn(prompt string) agent.Turn {
	return agent.Turn{
		ID: ulid.Make().String(), Prompt: prompt, Dir: m.BaseDir, Member: m.ForEngine(""),
		Said: agent.Said{Speaker: "agent-chatter", Text: prompt},
	}
}

func (v *verification) executable(m target) (f app.Finding) {
	defer func() { f.Check = checkExecutable }()
	engine := v.engines[m.EngineName()]
	if engine == nil {
		return noEngineText(m.EngineName())
	}
	if _, ok := engine.(agent.ProgramEngine); !ok {
		return app.Fine("needs no program")
	}
	known, turn := m.known(), m.turn("")
	turn.Member.Command = cmp.Or(turn.Member.Command, known.Program)
	path, err := process.Find(process.Program{Command: turn.Member.Command, Env: turn.Member.Env, Dir: turn.Dir})
	var start *process.StartError
	if errors.As(err, &start) {
		if turn.Member.Command == known.Program {
			start.Install = known.Install
		}
		return noExecutableText(start)
	}
	if known.Program != "" {
		if v.version, err = versionOf(v.ctx, path); errors.As(err, &start) {
			return noExecutableText(start)
		}
	}
	return executableText(path, v.version)
}

// authentication runs the login status command of the program, if it has a known one.
// Otherwise only the dry run shows whether it is logged in.
func (v *verification) authentication(m target) (f app.Finding) {
	defer func() { f.Check = checkAuthentication }()
	if unset := m.Unset(); len(unset) > 0 {
		return unsetText(unset)
	}
	known := m.known()
	if known.LoggedIn == nil {
		return app.Note("unknown; only the dry run shows it", "")
	}
	turn := m.turn("")
	turn.Member.Command, turn.Member.Args = cmp.Or(turn.Member.Command, known.Program), known.LoggedIn
	_, err := probe(v.ctx, turn)
	var exit *process.ExitError
	switch {
	case err == nil:
		return app.Fine("logged in")
	case errors.As(err, &exit):
		return notLoggedInText(known.Login)
	}
	return app.Note(loginUnknownText(err), "")
}

// question is the prompt of the dry run: as cheap as possible.
const question = "Reply with just the word OK."

// answerShown is how many bytes of an answer are printed.
const answerShown = 200

func (v *verification) dryRun(m target) (f app.Finding) {
	defer func() { f.Check = checkDryRun }()
	ctx, cancel := context.WithTimeoutCause(v.ctx, v.timeout, timeoutError(v.timeout))
	defer cancel()
	began := time.Now()
	var reply strings.Builder
	turn := m.turn(question)
	turn.Limit = v.timeout
	for e, err := range v.engines[m.EngineName()].Run(ctx, turn) {
		if err != nil {
			return noAnswerText(err)
		}
		if text, ok := e.(agent.Text); ok && reply.Len() < answerShown {
			reply.WriteString(text.Text)
		}
	}
	answer := strings.TrimSpace(reply.String())
	if answer == "" {
		return noAnswerText(errors.New("it ended without an answer"))
	}
	return answerText(answer[:min(len(answer), answerShown)], time.Since(began))
}

func executableText(path, version string) app.Finding {
	if version != "" {
		version = ", version " + version
	}
	return app.Fine(tty.SafeLine(path + version))
}

func noExecutableText(err *process.StartError) app.Finding {
	if err.Command == "" {
		return app.Wrong(app.Sentence(err), "")
	}
	what := tty.SafeLine(fmt.Sprintf("%q does not start: %v", err.Command, err.Err))
	return withRemedy(app.Wrong(what, ""), agent.Remedy{Advice: err.Advice(), Hint: err.Hint()})
}

func noEngineText(name string) app.Finding {
	what := fmt.Sprintf("unknown engine %q", tty.SafeLine(name))
	return app.Wrong(what, "Correct the member's engine, or upgrade agent-chatter.")
}

func unsetText(names []string) app.Finding {
	what := "unset in your environment: " + tty.SafeLine(strings.Join(names, ", "))
	return app.Wrong(what, "Set it before you start the chat, such as: export "+tty.SafeLine(names[0])+"=…")
}

func notLoggedInText(login agent.Remedy) app.Finding {
	return withRemedy(app.Wrong("it reports that it is not logged in", ""), login)
}

// loginUnknownText is for a program that does not report whether it is logged in.
func loginUnknownText(err error) string {
	return "it did not report whether it is logged in: " + tty.SafeLine(err.Error())
}

// answersText is for an agent that answers although another check failed.
func answersText(what string) app.Finding {
	return app.Note(what+", but it answers", "")
}

// noAnswerText is for an agent that did not answer.
func noAnswerText(err error) app.Finding {
	var failure *agent.FailureError
	var start *process.StartError
	switch {
	case errors.As(err, &failure):
		return withRemedy(app.Wrong(tty.SafeLine(failure.Reason), ""), failure.Remedy)
	case errors.As(err, &start):
		return noExecutableText(start)
	}
	return app.Wrong(tty.SafeLine(err.Error()), "Run it by hand for details, or raise --timeout.")
}

func answerText(answer string, took time.Duration) app.Finding {
	return app.Fine(fmt.Sprintf("answered “%s” in %.1f s", tty.SafeLine(answer), took.Seconds()))
}

// withRemedy adds the advice of an engine to f. Outside of a chat, verifying again
// replaces retrying a turn.
func withRemedy(f app.Finding, r agent.Remedy) app.Finding {
	command := r.Hint
	if command.Kind == hint.Slash {
		command = hint.Hint{Kind: hint.Command, Argv: []string{"agents", "verify"}}
	}
	if command.Kind == "" {
		f.Help = app.Sentence(errors.New(r.Advice))
		return f
	}
	purpose := tty.SafeLine(r.Advice)
	switch command.Argv[0] {
	case "command", "chmod": // the advice is more than what it does
		f.Help, purpose = app.Sentence(errors.New(r.Advice)), app.Purpose(command)
	}
	f.Commands = append(f.Commands, app.Help{Purpose: purpose, Command: command})
	return f
}

// close ends the resident processes of the engines.
func (v *verification) close() {
	for _, e := range v.engines {
		if resident, ok := e.(interface{ Close() }); ok {
			resident.Close()
		}
	}
}
