package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// toolbox is the source of the built-in tools. It is safe for concurrent use.
type toolbox struct {
	Resolver confine.Resolver
	Connect  confine.Connect // nil: dial directly
	Environ  []string        // of this program; commands get the safe variables
}

// Tools returns the built-in tools.
func (b *toolbox) Tools(context.Context, *ruleset.Set, policy.Subject) []tools.Tool {
	return workspaceTools
}

// toolCall is one call. Its methods are the tools.
type toolCall struct {
	*toolbox
	ctx  context.Context
	call *guard.AllowedCall
	in   arguments
}

// arguments are those of all tools. The schema says which ones a call has.
type arguments struct {
	Path, Content, Pattern, Glob, Input, Command, Workdir, URL string
	OldText, NewText                                           string
	Edits                                                      []edit
	Offset, Limit, MaxChars                                    int
	TimeoutSeconds                                             float64
}

// Run runs a call of a built-in tool.
func (b *toolbox) Run(ctx context.Context, _ string, call *guard.AllowedCall) tools.Result {
	w := toolCall{toolbox: b, ctx: ctx, call: call}
	if err := json.Unmarshal(call.Arguments, &w.in); err != nil {
		return failed(fmt.Errorf("the arguments cannot be read: %w", err))
	}
	run := map[string]func() (string, error){
		"read": w.read, "write": w.write, "edit": w.edit, "apply_patch": w.applyPatch, "ls": w.ls,
		"grep": w.grep, "glob": w.glob, "fetch": w.fetch,
	}[call.Name]
	switch {
	case call.Name == "exec":
		return w.exec()
	case run == nil:
		return failed(fmt.Errorf("there is no tool %s here", call.Name))
	}
	text, err := run()
	if err != nil {
		return failed(err)
	}
	return tools.Result{Text: text}
}

func failed(err error) tools.Result { return tools.Result{Failed: true, Text: errorText(err)} }

// errorText puts an error into words for the model.
func errorText(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file or folder: " + err.Error()
	case errors.Is(err, fs.ErrPermission):
		return "the system does not allow it: " + err.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "it was ended before it was done"
	}
	return err.Error()
}

// clip cuts a text to at most so many bytes, at the end of a line if there is one in the second half.
func clip(text string, most int) (out string, cut bool) {
	if len(text) <= most {
		return text, false
	}
	out = text[:most]
	if i := strings.LastIndexByte(out, '\n'); i > most/2 {
		return out[:i+1], true
	}
	return strings.ToValidUTF8(out, ""), true
}

// workspaceTools are the built-in tools, as the model sees them.
var workspaceTools = []tools.Tool{
	tool("read", "Read a text file of the workspace. A long file comes in parts, and of a line longer than all that is given at once the beginning.",
		required("path", str("The file, from the workspace or absolute.")),
		optional("offset", num("The first line, from 1.")),
		optional("limit", num("How many lines at most."))),
	tool("write", "Write a whole file, in place of what stood there. Folders on the way are made.",
		required("path", str("The file.")), required("content", str("All of its new text."))),
	tool("edit", "Replace a text in a file. The old text must stand there exactly once.",
		required("path", str("The file.")),
		required("oldText", str("The text as it stands in the file, with enough around it to be the only one.")),
		required("newText", str("The text in its place."))),
	tool("apply_patch", "Change several files with one patch: *** Begin Patch, then *** Add File: NAME with lines that begin with +, *** Delete File: NAME, or *** Update File: NAME with hunks that begin with @@ and have lines that begin with a blank, - or +; then *** End Patch.",
		required("input", str("The patch."))),
	tool("ls", "List a folder.", optional("path", str("The folder; left out: the workspace."))),
	tool("grep", "Search files for a regular expression (RE2). Gives file:line: text.",
		required("pattern", str("The regular expression.")),
		optional("path", str("A file or folder; left out: the workspace.")),
		optional("glob", str("Only files whose name fits, such as *.go.")),
		optional("limit", num("How many lines at most."))),
	tool("glob", "Find files by a pattern, such as src/**/*.go.",
		required("pattern", str("The pattern, from the workspace.")),
		optional("path", str("The folder in which to look."))),
	tool("exec", "Run a command with bash in the workspace, and give what it prints and its exit code.",
		required("command", str("The command.")), optional("workdir", str("The folder to run it in.")),
		optional("timeoutSeconds", num("How long it may take."))),
	tool("fetch", "Get a page or a document by its URL, as text.",
		required("url", str("The URL: https://…")),
		optional("maxChars", num("How many characters of the text at most."))),
}

type property struct {
	name     string
	schema   map[string]string
	required bool
}

func required(name string, schema map[string]string) property { return property{name, schema, true} }
func optional(name string, schema map[string]string) property { return property{name, schema, false} }

func str(about string) map[string]string {
	return map[string]string{"type": "string", "description": about}
}
func num(about string) map[string]string {
	return map[string]string{"type": "integer", "description": about}
}

func tool(name, about string, properties ...property) tools.Tool {
	required, all := []string{}, map[string]any{}
	for _, p := range properties {
		all[p.name] = p.schema
		if p.required {
			required = append(required, p.name)
		}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": all, "required": required,
		"additionalProperties": false})
	if err != nil {
		panic(err) // strings have no error
	}
	return tools.Tool{Name: name, Description: about, Parameters: schema}
}

// Runs is runs.yaml: limits of runs in executor mode, and how tools are called.
type Runs struct {
	rulefile.Head
	Turns    int           `rule:"turns,required" min:"1" max:"200" doc:"How many replies of the model a run may have. Then the model is asked once more, for an answer without tools." eg:"5"`
	Time     time.Duration `rule:"time,required" min:"1s" doc:"How long a run may take. A caller's own timeout can only shorten it." eg:"5m"`
	Same     int           `rule:"same,required" min:"2" max:"100" doc:"The same call with the same result so often ends the run." eg:"3"`
	AtOnce   int           `rule:"at_once,required" min:"1" max:"100000" doc:"How many runs may go on at the same time. One more gets 429." eg:"1024"`
	Replay   time.Duration `rule:"replay,required" doc:"The same request of the same session within this time gets the answer of the run that it began, if that changed something." eg:"2m"`
	Parallel string        `rule:"parallel,required" one:"none read" doc:"none: calls of one reply run one after the other. read: they run at the same time, if all of them only read."`
	Context  RunContext    `rule:"context" doc:"How the messages of a run are kept within the context of the model. If left out, as shipped."`
	Ends     RunEnds       `rule:"ends,required" doc:"What is said where a run ends without an answer."`
	Tools    []RunTool     `rule:"tools,required" doc:"How tools are called. The first entry that fits counts."`
}

// RunContext says when older messages are shortened or left out.
type RunContext struct {
	Window    int     `rule:"window,required" min:"1024" max:"100000000" doc:"How many tokens the model takes, where its server does not say." eg:"32768"`
	Reserve   int     `rule:"reserve,required" min:"0" max:"10000000" doc:"So many tokens are kept free for a reply; more if the request has a larger max_tokens." eg:"2000"`
	Keep      int     `rule:"keep,required" min:"1" max:"200" doc:"The last turns stay whole." eg:"2"`
	TrimAt    float64 `rule:"trim_at,required" min:"0" max:"1" doc:"From this share of the context on, older results are shortened." eg:"0.6"`
	TrimTo    int     `rule:"trim_to,required" min:"200" max:"1000000" doc:"To so many characters." eg:"500"`
	CompactAt float64 `rule:"compact_at,required" min:"0" max:"1" doc:"If it is still this share then, older turns are left out. One message tells which tools they called." eg:"0.8"`
}

// RunEnds are the ways in which a run ends without an answer.
type RunEnds struct {
	Turns  RunEnd `rule:"turns,required" doc:"The model has had all its turns."`
	Same   RunEnd `rule:"same,required" doc:"The model sends the same call again and again."`
	Time   RunEnd `rule:"time,required" doc:"The time is over."`
	Broken RunEnd `rule:"broken,required" doc:"The model server failed after something was done. Before that, callers get the answer of recovery.yaml. {why} is filled in."`
}

// RunEnd is what is said at such an end.
type RunEnd struct {
	Tell string `rule:"tell" doc:"What the model is told, so that it answers without tools. If left out, it is not asked." eg:"You have no more turns. Answer now."`
	Say  string `rule:"say,required" doc:"What the user reads, behind what there is of an answer." eg:"The work is not finished."`
}

// RunTool is how one tool is called.
type RunTool struct {
	Tool    rulefile.Text  `rule:"tool,required" doc:"The name of the tool, or '*' for every tool." eg:"web_search"`
	Offer   *bool          `rule:"offer" doc:"false keeps the tool from the model. If left out: true."`
	Timeout time.Duration  `rule:"timeout,required" min:"10ms" doc:"How long one call may take." eg:"30s"`
	Again   bool           `rule:"again" doc:"true says that a call changes nothing, so that it may be sent again if the network fails."`
	Cache   time.Duration  `rule:"cache" min:"1s" doc:"How long the result of the same call is used again, in the same session. It goes with again. If left out: not at all." eg:"10m"`
	Set     map[string]any `rule:"set" doc:"Arguments that are set where a call leaves them out, and the tool has them." eg:"{count: 10}"`
}

// Offered reports whether the model is told of the tool.
func (t *RunTool) Offered() bool { return t.Offer == nil || *t.Offer }

// Tool returns how a tool is called.
func (r *Runs) Tool(name string) RunTool {
	for _, t := range r.Tools {
		if t.Tool.Value == name || t.Tool.Value == every {
			return t
		}
	}
	return RunTool{Timeout: r.Time}
}

const every = "*"

// RunsSection describes runs.yaml.
func RunsSection() ruleset.Section {
	return ruleset.Section{Name: "runs.yaml",
		About: "How far a run of executor mode may go, and how its tools are called.",
		Holds: &Runs{Context: RunContext{Window: 32768, Reserve: 2000, Keep: 2, TrimAt: 0.6, TrimTo: 500,
			CompactAt: 0.8}}}
}

// Compile checks settings that depend on each other.
func (f *Runs) Compile(r *ruleset.Reader) any {
	if !r.Clean() {
		return f
	}
	ruleset.Unused(r, f.Tools, func(t RunTool) rulefile.Place { return t.Tool.All() },
		func(first, _ RunTool) bool { return first.Tool.Value == every })
	if f.Context.Reserve >= f.Context.Window {
		r.Report(r.At("context", "reserve"), rulefile.CodeValue,
			"reserve must be less than window: it is a part of it", "")
	}
	if f.Context.TrimAt > f.Context.CompactAt {
		r.Report(r.At("context", "trim_at"), rulefile.CodeValue,
			"trim_at cannot be more than compact_at: results are shortened before turns are left out", "")
	}
	for _, t := range f.Tools {
		if t.Cache > 0 && !t.Again {
			r.Report(t.Tool.All(), rulefile.CodeValue,
				"cache goes with again: true, which says that a call changes nothing", "")
		}
	}
	return f
}
