package interchange

import "github.com/agent-chatter/agent-chatter/projection"

var _ = RegisterFormat(Format{
	Name:   "telegram",
	Detect: func(o Fields) bool { return o.Has("telegram", "from") },
	Read: func(src Source, app projection.App) (*Session, error) {
		return newSession("telegram", src.Path, app, func(t *transcript) error {
			t.undated = true // lines have neither times nor ids
			t.speak(agent("telegram", "Telegram"), "")
			return eachObject(src, &t.skipped, func(line struct{ From, Telegram string }) bool {
				if line.From == "you" {
					t.addHuman("", []string{line.Telegram}, src.Modified)
				} else {
					t.addReply("", line.Telegram, src.Modified)
				}
				return !t.stopped
			})
		})
	},
})
