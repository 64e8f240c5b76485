package confine

import (
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// NetworkLimits bound the network use of one command.
type NetworkLimits struct {
	Idle    time.Duration `rule:"idle" min:"10ms" doc:"A connection over which nothing goes for so long is closed (5m)." eg:"5m"`
	Total   time.Duration `rule:"total" min:"10ms" doc:"How long one connection may last (6h)." eg:"6h"`
	Open    int           `rule:"connections" min:"1" max:"10000" doc:"How many connections may be open at once (256)." eg:"256"`
	Servers int           `rule:"servers" min:"1" max:"100000" doc:"How many different servers the command may ask for. Each is a record of the decision log (512)." eg:"512"`
}

// NetworkSection describes the section network.
func NetworkSection() ruleset.Section {
	return ruleset.Section{Name: "network",
		About: "Limits of the network of one confined command. If left out, they are as shipped.",
		Holds: &NetworkLimits{Idle: 5 * time.Minute, Total: 6 * time.Hour, Open: 256, Servers: 512}}
}

func limitsOf(s *ruleset.Set) *NetworkLimits { return ruleset.Of[NetworkLimits](s) }
