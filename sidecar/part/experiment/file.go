package experiment

import (
	"reflect"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

const rulesName = "experiments.yaml"

// Section returns the section experiments.yaml.
func Section() ruleset.Section {
	return ruleset.Section{Name: rulesName,
		About: "What is tried on which share of the sessions, and which replies are recorded.",
		Holds: &RulesFile{}, Conditions: []ruleset.ConditionKey{
			{Key: "experiments.when", Env: reflect.TypeFor[Asking]()},
			{Key: "capture.when", Env: reflect.TypeFor[Captured]()}}}
}

// RulesFile is the content of the file.
type RulesFile struct {
	rulefile.Head
	Capture     *Capture `rule:"capture" doc:"Which replies are recorded in the state folder. If left out, none is."`
	Outcomes    Outcomes `rule:"outcomes" doc:"How it is told from later requests what became of a reply."`
	Experiments []Entry  `rule:"experiments,required" doc:"What is tried, and on whom."`
}

// Capture selects the replies to record.
type Capture struct {
	Share    float64        `rule:"share,required" min:"0" max:"100" doc:"How many percent of the replies for which the condition holds." eg:"10"`
	When     *rulefile.Text `rule:"when" doc:"A condition on the reply and what was made of it. If left out, it always holds." eg:"refused > 0 or repaired > 0"`
	Messages bool           `rule:"messages" doc:"true records the messages of the request, too. They are what users wrote."`
	Secrets  string         `rule:"secrets" one:"mask keep" doc:"mask, which is the default: passwords and keys are masked. keep: they are not."`
	Size     rulefile.Size  `rule:"size" min:"1MiB" doc:"How large all records may be together; then the oldest go. If left out: 256MiB." eg:"256MiB"`
	Age      time.Duration  `rule:"age" min:"1m" doc:"Older records go. If left out: 720h." eg:"720h"`
}

// Outcomes are signs in later requests of a session.
type Outcomes struct {
	Failed    []Sign `rule:"failed" doc:"The results of tools that failed, as the gateway sends them."`
	Corrected []Sign `rule:"corrected" doc:"Messages with which users say that an answer was wrong."`
}

// Sign matches a text.
type Sign struct {
	About string          `rule:"about" doc:"What the sign is." eg:"The command has failed."`
	Find  rulefile.Text   `rule:"find,required" doc:"A regular expression (RE2)." eg:"'^Error: '"`
	Hit   []rulefile.Text `rule:"hit" doc:"Texts in which it is found. Every load tries them." eg:"['Error: no such file']"`
	Miss  []rulefile.Text `rule:"miss" doc:"Texts in which it is not found. Every load tries them." eg:"[no error]"`
}

// States of an experiment.
const (
	Draft   = "draft"   // checked, but without sessions
	Running = "running" // sessions are in its arms
	Stopped = "stopped" // without new sessions; the counts remain
)

// Units that can be split.
const (
	bySession = "session"
	byAgent   = "agent"
	byUser    = "user"
)

// Entry is an experiment in the file.
type Entry struct {
	ID      rulefile.Text             `rule:"id,required" doc:"Its name." eg:"shorter-prompt"`
	About   string                    `rule:"about,required" doc:"The question." eg:"Does the shorter prompt give as many calls that work?"`
	Status  string                    `rule:"status,required" one:"draft running stopped" doc:"draft: it is checked, and no session is in it. running: it goes on. stopped: no session is in it any more."`
	Unit    string                    `rule:"unit" one:"session agent user" doc:"What is split: the same one always gets the same arm. user is the field user of requests. If left out: session."`
	Phase   int                       `rule:"phase" min:"1" max:"1000000" doc:"Another number begins to count anew, with the same split. If left out: 1." eg:"1"`
	When    *rulefile.Text            `rule:"when" doc:"A condition on who asks. If left out, everybody is in it." eg:"'agent == \"main\"'"`
	Arms    []rulefile.Pair[ArmEntry] `rule:"arms,required" doc:"What is tried, by name. The others are compared with the first one." eg:"{control: {share: 50}, short: {share: 50, set: {prompt: short}}}"`
	Shadow  bool                      `rule:"shadow" doc:"true changes nothing for anybody: replies are read with the first arm, and afterwards with the others, to see where they differ."`
	Adapt   *Adapt                    `rule:"adaptive" doc:"New sessions go more often where it goes better. If left out, the shares stay."`
	Measure rulefile.Text             `rule:"measure,required" doc:"What shall get better." eg:"tool_ok"`
	Margin  float64                   `rule:"margin" min:"0" max:"1000000" doc:"A smaller difference of the measure does not matter: points of a rate, or what a mean counts. The verdict can then be that there is none. If left out, every difference matters." eg:"2"`
	Guards  []Guard                   `rule:"guards" doc:"What must not get worse: the experiment stops by itself then."`
	Stop    Stop                      `rule:"stop" doc:"When it stops by itself. If left out, it does not."`
	Sample  []Sample                  `rule:"sample" doc:"Units that are put into an arm, to try it. They are not counted."`
}

// ArmEntry is an arm in the file.
type ArmEntry struct {
	Share float64              `rule:"share,required" min:"0" max:"100" doc:"Percent of the units. All shares together are 100." eg:"50"`
	Set   []rulefile.Pair[any] `rule:"set" doc:"What is other than in the rule files, as FILE.ID.KEY: value, or prompt, profile, style, upstream, sampling, effort for every model." eg:"{prompt: short, strategies.markers.priority: 75}"`
}

// Adapt makes shares follow the counts.
type Adapt struct {
	Floor float64 `rule:"floor,required" min:"1" max:"50" doc:"Percent that every arm gets at least." eg:"10"`
}

// Guard is a measure that must not get worse.
type Guard struct {
	Measure rulefile.Text `rule:"measure,required" doc:"What must not get worse." eg:"empty"`
	By      float64       `rule:"by" min:"0" max:"1000000" doc:"So much is no harm: points of a rate, or what a mean counts. If left out: 0." eg:"1"`
}

// Stop lists when an experiment stops by itself.
type Stop struct {
	Units   int  `rule:"sessions" min:"1" max:"100000000" doc:"When so many units were in it." eg:"4000"`
	Days    int  `rule:"days" min:"1" max:"3650" doc:"When it is so many days old." eg:"14"`
	Decided bool `rule:"decided" doc:"true: as soon as one arm is known to be better or worse than the first, or, with a margin, no arm to differ by more."`
}

// Sample assigns a unit to an arm.
type Sample struct {
	Session rulefile.Text `rule:"session" doc:"A session, where those are split." eg:"agent:main:alice"`
	Agent   rulefile.Text `rule:"agent" doc:"An agent, where those are split." eg:"main"`
	User    rulefile.Text `rule:"user" doc:"A user, where those are split." eg:"alice"`
	Arm     rulefile.Text `rule:"arm,required" doc:"The arm." eg:"control"`
}

// Asking is the environment of an experiment's condition.
type Asking struct {
	Model   string `expr:"model" doc:"The model id that the caller asked for."`
	Agent   string `expr:"agent" doc:"The agent. It is empty if the request does not name it."`
	Session string `expr:"session" doc:"The session. It is empty if the request does not name it."`
	Channel string `expr:"channel" doc:"The channel, such as telegram. It is empty if the request does not name it."`
	User    string `expr:"user" doc:"The field user of the request."`
	Tools   int    `expr:"tools" doc:"How many tools are offered."`
}

// Lasting returns the session; empty if only a trace is known, which ends with the turn.
func (a *Asking) Lasting() string {
	if strings.HasPrefix(a.Session, telemetry.TraceSession) {
		return ""
	}
	return a.Session
}

// Captured is the environment of the condition of capture.
type Captured struct {
	Asking
	Arms     []string `expr:"arms" doc:"The arms that the request is in, as EXPERIMENT/ARM."`
	Calls    int      `expr:"calls" doc:"How many calls left."`
	Refused  int      `expr:"refused" doc:"How many calls did not."`
	Repaired int      `expr:"repaired" doc:"How many repairs were made to calls that left."`
	Empty    bool     `expr:"empty" doc:"true means that there is nothing to show and nothing to run."`
	Cut      bool     `expr:"cut" doc:"true means that the reply ended too early."`
	Differs  bool     `expr:"differs" doc:"true means that another arm of a shadow experiment reads it otherwise."`
	Text     string   `expr:"text" doc:"What the model wrote, up to 64 KiB."`
}
