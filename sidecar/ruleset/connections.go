package ruleset

import "github.com/jgavinray/gpt-oss-executor/sidecar/connection"

// connections reads how agents are connected.
func (l *loader) connections() {
	agents, problems := connection.Load(l.files)
	l.set.Connect, l.problems = agents, append(l.problems, problems...)
}
