package host

import (
	"context"
	"os/exec"
	"runtime"
	"time"
)

// notifyTimeout ends a program for notifications that hangs.
const notifyTimeout = 5 * time.Second

// NotifyDesktop shows a notification with the program of the platform: notify-send, osascript or powershell. It does
// not wait for it, and a missing program is no error.
func NotifyDesktop(text string) {
	argv := notifyCommand(runtime.GOOS, text)
	go func() {
		ctx, stop := context.WithTimeout(context.Background(), notifyTimeout)
		defer stop()
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append(cmd.Environ(), notifyVariable+"="+text)
		_ = cmd.Run()
	}()
}

// NotifyProgram returns the program that NotifyDesktop runs.
func NotifyProgram() string { return notifyCommand(runtime.GOOS, "")[0] }

// notifyVariable has the text for a script in the environment, so that it is no part of the script.
const notifyVariable = "AGENT_CHATTER_NOTIFICATION"

// notifyCommand returns the command for a text.
func notifyCommand(system, text string) []string {
	switch system {
	case "darwin":
		const script = `display notification (system attribute "` + notifyVariable + `") with title "agent-chatter"`
		return []string{"osascript", "-e", script}
	case "windows":
		const script = `Add-Type -AssemblyName System.Windows.Forms; ` +
			`$n = New-Object System.Windows.Forms.NotifyIcon; $n.Icon = [System.Drawing.SystemIcons]::Information; ` +
			`$n.Visible = $true; $n.ShowBalloonTip(4000, "agent-chatter", ` +
			`$env:` + notifyVariable + `, "Info"); Start-Sleep 4; $n.Dispose()`
		return []string{"powershell", "-NoProfile", "-Command", script}
	}
	return []string{"notify-send", "--app-name=agent-chatter", "--", "agent-chatter", text}
}
