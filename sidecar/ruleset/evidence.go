package ruleset

import (
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// evidenceDoc is evidence.yaml.
type evidenceDoc struct {
	Version int           `rule:"version,required" one:"1" doc:"The version of this file's format."`
	Base    float64       `rule:"base" min:"-20" max:"20" doc:"What is added to the weights of every text."`
	Weights []weightRule  `rule:"weights,required" doc:"How much each sign speaks for a call, in logits; below 0 it speaks against one. A sign that is left out counts nothing."`
	Topic   []string      `rule:"topic" doc:"What a user says who writes about calls, in any case: the sign topic." eg:"[tool call]"`
	Data    []string      `rule:"data" doc:"What a user or a thought says where the answer is an object, in small letters: an object that fits a tool and names none is asked about then." eg:"[json]"`
	Talk    talkRule      `rule:"talk" doc:"What a sentence says that speaks about a call, and does not make it: the sign told. The words are looked for in small letters, where one blank stands for all other signs, and one is at each end. A * stands for any part of one word, ^ for the beginning of a part between commas, and $ for its end."`
	Looks   []string      `rule:"looks" doc:"Programs that only look, with their subcommand where that decides. Text may stand behind a command of nothing else, which writes, fetches and runs nothing, as behind a tool that reads." eg:"[ls, git status]"`
	Run     thresholdRule `rule:"run,required" doc:"From which score on a call runs, by what its tool does."`
	Ask     thresholdRule `rule:"ask,required" doc:"From which score on the model is asked what it means. Below, it is text."`
}

type weightRule struct {
	Sign   rulefile.Text `rule:"sign,required" one:"header name object block lines tokens bent mended fits only word signs open quoted told beside behind finish topic" doc:"The sign."`
	Weight float64       `rule:"weight,required" min:"-20" max:"20" doc:"How much it counts." eg:"1.5"`
	About  string        `rule:"about" doc:"What the sign is." eg:"A sentence goes on around it."`
}

type talkRule struct {
	Shown    []string `rule:"shown" doc:"The call is shown, or the user is asked, whatever else the sentence says." eg:"[for example]"`
	Denied   []string `rule:"denied" doc:"The call is not made, unless the sentence goes on to say that it is. Such a word wins within those of intended, behind them, and right in front of them." eg:"[' not ']"`
	Reported []string `rule:"reported" doc:"Something is shown, if a colon ends the line; or maybe, if nothing does." eg:"[' log ']"`
	Intended []string `rule:"intended" doc:"The call is made." eg:"[let me]"`
	Openers  []string `rule:"openers" doc:"Words that may stand in front of those of intended that begin a part." eg:"[now, first]"`
	Wrappers []string `rule:"wrappers" doc:"Names of tags that wrap calls: they say nothing of one." eg:"[tool_call]"`
}

type thresholdRule struct {
	Read  float64 `rule:"read,required" min:"0" max:"1" doc:"For tools that only read." eg:"0.6"`
	Write float64 `rule:"write,required" min:"0" max:"1" doc:"For tools that write." eg:"0.9"`
	Exec  float64 `rule:"exec,required" min:"0" max:"1" doc:"For tools that execute." eg:"0.9"`
}

// evidence takes evidence.yaml.
func (l *loader) evidence() {
	f := decodeFile[evidenceDoc](l, evidenceFile)
	w := parse.Weights{Base: f.Base, Run: parse.Thresholds(f.Run), Ask: parse.Thresholds(f.Ask)}
	for _, r := range f.Weights {
		if sign, ok := parse.Named(r.Sign.Value); ok {
			w.Of[sign] = r.Weight
		}
	}
	if l.clean(evidenceFile) && (f.Ask.Read > f.Run.Read || f.Ask.Write > f.Run.Write ||
		f.Ask.Exec > f.Run.Exec) {
		l.report(l.placeOf(evidenceFile, "ask"), rulefile.CodeValue,
			"ask cannot be more than run: a call that is sure enough to run is not asked about", "")
	}
	l.weights = w
	l.set.topic, l.set.data, l.set.looking, l.set.talk = f.Topic, f.Data, f.Looks,
		parse.NewSurroundings(parse.Words(f.Talk))
}
