package walls

import (
	"errors"
	"slices"
)

// errUnfit wraps every error that means: this machine cannot confine.
var errUnfit = errors.New("this machine cannot confine")

// Part is one thing that is enforced.
type Part string

// The parts, as named by probes and Box.Lenient.
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

// Parts returns all parts with their meanings.
func Parts() []PartStatus {
	return []PartStatus{
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

// PartStatus says whether this machine enforces a part.
type PartStatus struct {
	Part    Part   `json:"part"`
	About   string `json:"about"`
	By      string `json:"by,omitempty"`      // what enforces it
	Missing string `json:"missing,omitempty"` // why it is not enforced
}

// Offer is what a machine enforces.
type Offer struct {
	Parts []PartStatus `json:"parts"`
	kernel
}

// Has reports whether a part is enforced.
func (o Offer) Has(p Part) bool {
	return slices.ContainsFunc(o.Parts, func(g PartStatus) bool { return g.Part == p && g.Missing == "" })
}

func (b Box) lenient(p Part) bool { return slices.Contains(b.Lenient, p) }
