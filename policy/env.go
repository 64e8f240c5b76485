package policy

import (
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// Env is what conditions of exec.yaml see.
type Env struct {
	Call
	Script *shell.Script  `expr:"script" doc:"What the command can do. Without a command it is empty, and parsed."`
	Cmd    *shell.Command `expr:"cmd" doc:"One program that the command can run. A condition that names cmd is tried for each."`
	Home   string         `expr:"home" doc:"The home folder of the agent, which ~ stands for."`
	Moment
}

// PathEnv is what conditions of paths.yaml see: one path that the call or one of its commands would touch.
type PathEnv struct {
	paths.Use
	Scene
}

// URLEnv is what conditions of urls.yaml see: one URL that the call or one of its commands would fetch or
// send to.
type URLEnv struct {
	urls.Use
	Scene
}

// Scene is who touches a path or URL.
type Scene struct {
	Tool      string `expr:"tool" doc:"The name of the tool that would run."`
	Kind      string `expr:"kind" doc:"The first name of the tool's group in aliases.yaml: ls for List and tree. It is the tool's own name if it is in no group."`
	ToolClass string `expr:"tool_class" doc:"read, write or exec, by the classes of arguments.yaml."`
	Program   string `expr:"program" doc:"The program of the command. It is empty if the tool itself touches the path or URL."`
	Command   string `expr:"command" doc:"The shell lines of the call. It is empty if there are none."`
	Home      string `expr:"home" doc:"The home folder of the agent, which ~ stands for."`
	Confined  bool   `expr:"confined" doc:"true means that the kernel holds the command, so that what cannot be foreseen does no harm."`
	Subject
	Moment
}

// Moment is when a call is judged.
type Moment struct {
	Now  Now                           `expr:"now" doc:"The time, in the zone of exec.yaml."`
	Rate func(kind, window string) int `expr:"rate" doc:"How often something happened in this session: calls, commands, denied, asked, deletes, writes, fetches, or tool:NAME for the calls of one tool. For example rate('deletes', '10m') > 20."`
}

// Now is a time of the week.
type Now struct {
	Hour    int    `expr:"hour" json:"hour" doc:"0 to 23."`
	Minute  int    `expr:"minute" json:"minute" doc:"0 to 59."`
	Weekday string `expr:"weekday" json:"weekday" doc:"monday to sunday."`
}

// Rates counts what a session did within a window that ends now.
type Rates interface {
	Count(kind string, window time.Duration) int
}

// RateKinds returns the kinds that Rates counts.
func RateKinds() []string {
	return []string{"calls", "commands", "denied", "asked", "deletes", "writes", "fetches"}
}

// RateOfTool is the prefix of the kind that counts one tool, as in tool:web_search.
const RateOfTool = "tool:"

// MomentOf returns the moment as conditions see it. Without rates, every count is 0.
func MomentOf(now time.Time, rates Rates) Moment {
	return Moment{
		Now: Now{Hour: now.Hour(), Minute: now.Minute(), Weekday: strings.ToLower(now.Weekday().String())},
		Rate: func(kind, window string) int {
			d, err := time.ParseDuration(window)
			if rates == nil || err != nil { // windows are checked when the rules are loaded
				return 0
			}
			return rates.Count(kind, d)
		},
	}
}

// Weekdays returns the values of now.weekday.
func Weekdays() []string {
	return []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
}
