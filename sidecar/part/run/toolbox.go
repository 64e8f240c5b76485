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

// toolbox is a source of tools for runs. It is safe for concurrent use.
type toolbox struct {
	Resolver confine.Resolver
	Connect  confine.Connect // nil: as the system does
	Environ  []string        // of this program; commands get what is harmless of it
}

// Tools are those of a workspace.
func (b *toolbox) Tools(context.Context, *ruleset.Set, policy.Subject) []tools.Tool { return offered }

// toolWork is one call on its way. Its methods are the tools.
type toolWork struct {
	*toolbox
	ctx  context.Context
	call *guard.Passed
	in   arguments
}

// arguments are those of all tools. The schema says which of them a call has.
type arguments struct {
	Path, Content, Pattern, Glob, Input, Command, Workdir, URL string
	OldText, NewText                                           string
	Edits                                                      []edit
	Offset, Limit, MaxChars                                    int
	TimeoutSeconds                                             float64
}

// Run runs a call of one of the tools.
func (b *toolbox) Run(ctx context.Context, _ string, call *guard.Passed) tools.Result {
	w := toolWork{toolbox: b, ctx: ctx, call: call}
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

// failed is the result of a call that did not do what it was for.
func failed(err error) tools.Result { return tools.Result{Failed: true, Text: reason(err)} }

// reason is an error in words for the model.
func reason(err error) string {
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

// clip is the beginning of a text, cut at the end of a line where there is one.
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
