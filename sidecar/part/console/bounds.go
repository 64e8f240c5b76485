package console

import (
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Bounds limits what is kept, all of it in memory.
type Bounds struct {
	Turns  int           `rule:"turns" min:"0" max:"100000" doc:"How many requests are kept; older ones make room. 0: none, and Live is empty." eg:"500"`
	Memory rulefile.Size `rule:"memory" doc:"How much they may take together." eg:"32MiB"`
	Words  rulefile.Size `rule:"words" doc:"How much is kept of what the model wrote within one request, with secrets masked where it is shown. 0: nothing, and no reason, since that may quote it." eg:"2MiB"`
}

// Section returns the section of the rule files with the bounds.
func Section() ruleset.Section {
	return ruleset.Section{Name: "console",
		About: "What the console keeps of the last requests, in memory alone.", Holds: &Bounds{Turns: 500, Memory: 32 << 20, Words: 2 << 20}}
}
