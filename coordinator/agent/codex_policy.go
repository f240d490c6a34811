package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A codexPolicy is what the requests to Codex say about what it may do. The zero value leaves that to the user's
// configuration.
//
// Codex keeps the policies of a thread, also the widest ones, and resumes it with them: they are set in every request.
//
// A command that the user's rules allow runs unasked and outside of the sandbox, whatever the request says, unless
// some file must not be read: Codex can enforce that only in the sandbox. So a policy that the user's rules must not
// widen is a permission profile in which an arbitrary file must not be read. With it, commands that rules allow
// run in the sandbox, unasked; those that the user allows when Codex asks run outside.
//
// The approval policy "untrusted" is not used. With it Codex asks for every command, even ls, but runs what was allowed
// in the sandbox. With "on-request", what only reads needs no question, and what Codex asks for leaves the sandbox.
type codexPolicy struct {
	approval string // when Codex asks
	sandbox  string // the mode of the sandbox; "" with extends
	extends  string // the profile of Codex that the permission profile extends; "" with sandbox
}

var codexPolicies = map[string]codexPolicy{
	"":       {},
	Ask:      {approval: "on-request", extends: ":read-only"},
	Deny:     {approval: codexNever, extends: ":read-only"},
	ReadOnly: {approval: codexNever, extends: ":read-only"},
	Edit:     {approval: "on-request", extends: ":workspace"},
	Allow:    {approval: "on-request", sandbox: "workspace-write"},
	Bypass:   {approval: codexNever, sandbox: "danger-full-access"},
}

const (
	codexNever = "never"
	// codexPermissionProfile is the name of the profile that the policies with extends define.
	codexPermissionProfile = "agent-chatter"
)

// unreadable returns the absolute path of the file that must not be read. There is no such file.
func unreadable() string {
	return filepath.VolumeName(os.TempDir()) + filepath.FromSlash("/nonexistent/agent-chatter")
}

// args define the permission profile. They have to be the last ones: the last value of a setting counts.
func (p codexPolicy) args() []string {
	if p.extends == "" {
		return nil
	}
	return []string{
		fmt.Sprintf("--config=permissions.%s={extends=%s,filesystem={%s=%s}}", codexPermissionProfile,
			tomlString(p.extends), tomlString(unreadable()), tomlString("deny")),
		"--config=default_permissions=" + tomlString(codexPermissionProfile),
	}
}

// forThread returns the fields of a request that starts a thread.
func (p codexPolicy) forThread() map[string]any {
	fields := map[string]any{}
	if p.approval != "" {
		fields["approvalPolicy"], fields["approvalsReviewer"] = p.approval, "user"
	}
	switch {
	case p.extends != "":
		fields["permissions"] = codexPermissionProfile
	case p.sandbox != "":
		fields["sandbox"] = p.sandbox
	}
	return fields
}

// A codexThread is the response to a request that starts a thread.
type codexThread struct {
	Thread struct {
		ID string `json:"id"`
	} `json:"thread"`
	Approval any            `json:"approvalPolicy"`
	Reviewer string         `json:"approvalsReviewer"`
	Sandbox  map[string]any `json:"sandbox"`
	Effort   string         `json:"reasoningEffort"`
	Profile  struct {
		ID      string `json:"id"`
		Extends string `json:"extends"`
	} `json:"activePermissionProfile"`
}

// codexSandboxes are the types of sandboxes, by their modes.
var codexSandboxes = map[string]string{
	"read-only": "readOnly", "workspace-write": "workspaceWrite", "danger-full-access": "dangerFullAccess",
}

// mode returns the mode of the thread's sandbox; "" if there is none for it.
func (t codexThread) mode() string {
	for mode, kind := range codexSandboxes {
		if t.Sandbox["type"] == kind {
			return mode
		}
	}
	return ""
}

// follows returns an error if a thread does not follow the policy.
func (p codexPolicy) follows(t codexThread) error {
	var different []string
	if p.approval != "" && t.Approval != p.approval {
		different = append(different, fmt.Sprintf("its approval policy is %v, not %s", t.Approval, p.approval))
	}
	if p.approval != "" && t.Reviewer != "user" && t.Reviewer != "" {
		different = append(different, fmt.Sprintf("its requests are reviewed by %s", t.Reviewer))
	}
	if p.extends != "" && (t.Profile.ID != codexPermissionProfile || t.Profile.Extends != p.extends) {
		different = append(different, fmt.Sprintf("its permission profile is “%s”", excerpt(t.Profile.ID)))
	}
	if p.sandbox != "" && t.mode() != p.sandbox {
		different = append(different, fmt.Sprintf("its sandbox is %v, not %s", t.Sandbox["type"], p.sandbox))
	}
	if different == nil {
		return nil
	}
	return fmt.Errorf("it does not follow the member's permissions: %s", strings.Join(different, "; "))
}

// forTurn returns the fields of a request that starts a turn in a thread.
func (p codexPolicy) forTurn(t codexThread) map[string]any {
	fields := p.forThread()
	if _, ok := fields["sandbox"]; ok {
		delete(fields, "sandbox")
		fields["sandboxPolicy"] = t.Sandbox // with the directories that the user's configuration adds
	}
	return fields
}

// own returns the fields of a request that starts a thread as the user's configuration does, which another thread, t,
// follows.
func (t codexThread) own() map[string]any {
	fields := map[string]any{"approvalPolicy": t.Approval}
	if t.Reviewer != "" {
		fields["approvalsReviewer"] = t.Reviewer
	}
	if t.Profile.ID != "" {
		fields["permissions"] = t.Profile.ID
	} else if mode := t.mode(); mode != "" {
		fields["sandbox"] = mode
	}
	return fields
}

// checkCodexPermissions returns an error if the member's permissions are invalid.
func checkCodexPermissions(m Member) error {
	if _, ok := codexPolicies[m.Permissions]; ok {
		return nil
	}
	advice := fmt.Sprintf(`set the member's "permissions" to %s, or omit it`, strings.Join(Policies, ", "))
	return codexProfile.failure(fmt.Sprintf("invalid permissions %q", m.Permissions), Remedy{Advice: advice})
}

// codexRules returns the file in which Codex keeps what it is always allowed.
func codexRules(m Member) string {
	home := m.Env["CODEX_HOME"]
	if home == "" {
		home = "~/.codex"
	}
	return strings.TrimSuffix(home, "/") + "/rules/default.rules"
}

// obeysRules reports whether a rule of the user allows a command to leave the sandbox.
func (p codexPolicy) obeysRules() bool { return p.extends == "" }

// forbids reports whether Codex must not change anything.
func (p codexPolicy) forbids() bool { return p.extends == ":read-only" }
