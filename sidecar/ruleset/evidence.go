package ruleset

import "github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"

// evidenceDoc is evidence.yaml.
type evidenceDoc struct {
	rulefile.Head
	Topic   []string          `rule:"topic" doc:"What a user says who writes about calls, in any case." eg:"[tool call]"`
	Data    []string          `rule:"data" doc:"What a user or a thought says where the answer is an object, in small letters: an object that fits a tool and names none is asked about then." eg:"[json]"`
	Base    rulefile.Obsolete `rule:"base" doc:"What stands around a call decides; signs have no weights."`
	Weights rulefile.Obsolete `rule:"weights" doc:"What stands around a call decides; signs have no weights."`
	Talk    rulefile.Obsolete `rule:"talk" doc:"Words of sentences are not read: a colon or a question in front, or text behind, is asked about."`
	Looks   rulefile.Obsolete `rule:"looks" doc:"Text behind a call is asked about, whatever its tool does."`
	Run     rulefile.Obsolete `rule:"run" doc:"What the tool does and what stands around the call decide; there are no scores."`
	Ask     rulefile.Obsolete `rule:"ask" doc:"What the tool does and what stands around the call decide; there are no scores."`
}

func (l *loader) evidence() {
	f := decodeFile[evidenceDoc](l, evidenceFile)
	l.set.topic, l.set.data = f.Topic, f.Data
}
