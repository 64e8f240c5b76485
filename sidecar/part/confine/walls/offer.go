package walls

import (
	"errors"
	"slices"
)

// errUnfit is in every error that means: this machine cannot confine.
var errUnfit = errors.New("this machine cannot confine")

// Part is one thing that is enforced.
type Part string

// The parts, as probes and Box.Lenient name them.
const (
	PartFiles    Part = "files"
	PartBelow    Part = "below"
	partMetadata Part = "metadata"
	PartTCP      Part = "tcp"
	PartUDP      Part = "udp"
	PartUnix     Part = "unix"
	PartSignals  Part = "signals"
	partProc     Part = "proc"
	partLimits   Part = "limits"
)

// Parts are all of them, with what each means.
func Parts() []Given {
	return []Given{
		{Part: PartFiles, About: "files outside cannot be read, run or changed"},
		{Part: PartBelow, About: "what lies below a folder that may be written can be hidden or fixed"},
		{Part: partMetadata, About: "modes, owners, times and attributes of files outside cannot be changed"},
		{Part: PartTCP, About: "TCP connections lead only where they may"},
		{Part: PartUDP, About: "no UDP, and no other kind of network"},
		{Part: PartUnix, About: "no sockets of programs outside"},
		{Part: PartSignals, About: "programs outside get no signals"},
		{Part: partProc, About: "memory, environment and files of programs outside cannot be seen; names and command lines can"},
		{Part: partLimits, About: "time, memory, processes, files and output are bound"},
	}
}

// Given is a part, and whether this machine gives it.
type Given struct {
	Part    Part   `json:"part"`
	About   string `json:"about"`
	By      string `json:"by,omitempty"`      // what enforces it
	Missing string `json:"missing,omitempty"` // why it is not given
}

// Offer is what a machine enforces.
type Offer struct {
	Parts   []Given `json:"parts"`
	Untried string  `json:"untried,omitempty"` // why a command runs so only if its box says that it may
	kernel
}

// Has says whether a part is given.
func (o Offer) Has(p Part) bool {
	return slices.ContainsFunc(o.Parts, func(g Given) bool { return g.Part == p && g.Missing == "" })
}

func (b Box) lenient(p Part) bool { return slices.Contains(b.Lenient, p) }
