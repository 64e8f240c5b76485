package parse

import "github.com/jgavinray/gpt-oss-executor/sidecar/strategy"

// What a reply is read with. The room strategy says more of each.
type (
	Strategy      = strategy.Strategy
	StrategyError = strategy.Error
	Kind          = strategy.Kind
	Body          = strategy.Body
)

// The kinds of strategies, and the bodies of a block.
const (
	Native, Harmony, JSON, Lines   = strategy.Native, strategy.Harmony, strategy.JSON, strategy.Lines
	Block, Pattern, Drop, Phrases  = strategy.Block, strategy.Pattern, strategy.Drop, strategy.Phrases
	BodyJSON, BodyPairs, BodyNamed = strategy.BodyJSON, strategy.BodyPairs, strategy.BodyNamed
	BodyXML, BodyCode, BodyAuto    = strategy.BodyXML, strategy.BodyCode, strategy.BodyAuto
	ToolName                       = strategy.ToolName
)

// Kinds are all of them, in the order in which people read of them.
func Kinds() []Kind { return strategy.Kinds() }
