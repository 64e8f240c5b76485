package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
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
