package doctor

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/devices"
)

// checkDevices returns how many devices may use the page of serve, or why none can. Most homes have none.
func (d *doctor) checkDevices() []app.Finding {
	all, err := devices.Open(d.Home).List()
	switch {
	case err != nil:
		return []app.Finding{invalidDevicesText(err)}
	case len(all) == 0:
		return nil
	}
	return []app.Finding{devicesText(len(all))}
}

func devicesText(n int) app.Finding {
	return app.Fine(app.Count(n, "device") + " may use the page of serve")
}

// invalidDevicesText is for a list that admits no device.
func invalidDevicesText(err error) app.Finding {
	return app.Wrong(app.Sentence(err),
		"No device is admitted. Correct the file, or move it away and pair the devices again.",
		app.To("pair a device", "serve", "--chat", "--pair"))
}
