package ruleset

import "github.com/jgavinray/gpt-oss-executor/sidecar/connection"

// agents reads how agents are connected.
func (l *loader) agents() {
	agents, problems := connection.Load(l.files)
	l.set.Agents, l.problems = agents, append(l.problems, problems...)
}
