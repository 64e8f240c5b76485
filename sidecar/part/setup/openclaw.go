package setup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/connection"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func ReadOpenClaw(path string) (File, error) {
	f, err := Read(path)
	if err == nil && f.Missing {
		err = fmt.Errorf("read %s: there is no such file; openclaw onboard makes one, and openclaw config file says where it is", path)
	}
	return f, err
}

// config returns the path, or the default config of OpenClaw if it is empty.
func (c *Connector) config(path string) string {
	if path != "" {
		return path
	}
	folder := cmp.Or(c.variable("OPENCLAW_STATE_DIR"),
		filepath.Join(cmp.Or(c.variable("OPENCLAW_HOME"), c.variable("HOME")), ".openclaw"))
	return cmp.Or(c.variable("OPENCLAW_CONFIG_PATH"), filepath.Join(folder, "openclaw.json"))
}

// Write merges the settings into a config and shows the changes first. It leaves a config unchanged if
// OpenClaw refuses the result, or if others change it meanwhile. An empty path is OpenClaw's default; so it
// is for Undo and Check.
func (c *Connector) Write(ctx context.Context, path string) error {
	path = c.config(path)
	f, err := ReadOpenClaw(path)
	if err != nil {
		return err
	}
	text, err := c.accepted(ctx, f)
	if err != nil {
		return err
	}
	c.doubt()
	if bytes.Equal(text, f.Text) {
		c.say(terminal.Plain, "nothing to change in %s", path)
	} else if err := c.replace(f, text, connection.JSON, "openclaw"); err != nil {
		return err
	}
	for _, found := range openclaw.Check(text, c.Sidecar) {
		if found.Status != openclaw.OK {
			c.show(path, found)
		}
	}
	c.note(ruleset.OpenClaw)
	return nil
}

// accepted returns a config with our settings that OpenClaw accepts. If OpenClaw no longer accepts security
// and ask for exec, it sets the nearest mode.
func (c *Connector) accepted(ctx context.Context, f File) ([]byte, error) {
	text, err := openclaw.Merge(f.Text, c.Sidecar)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", f.Path, err)
	}
	if bytes.Equal(text, f.Text) {
		return text, nil
	}
	err = validate(ctx, f.Path, text)
	var no *refused
	if errors.As(err, &no) && no.about("tools.exec") && !c.ExecMode {
		c.ExecMode = true
		return c.accepted(ctx, f)
	}
	if no != nil {
		return nil, fmt.Errorf("%w\n%s was left as it is; openclaw doctor says more", err, f.Path)
	}
	if err != nil {
		fmt.Fprintln(c.Err, "warning: OpenClaw itself was not asked whether it takes the settings:", err)
	}
	return text, nil
}

// Undo restores the newest backup of a config. It forgets the gateway if it no longer leads to the sidecar.
func (c *Connector) Undo(path string) error {
	path = c.config(path)
	u, err := c.undo(path, connection.JSON)
	if err != nil {
		return err
	}
	return confine.ForgetAgent(ruleset.OpenClaw, func(sidecar string) bool {
		return openclaw.Leads(u.Before, sidecar) && !openclaw.Leads(u.After, sidecar)
	})
}

// Check prints the problems of a config, and reports whether everything works.
func (c *Connector) Check(path string, asJSON bool) (works bool, err error) {
	path = c.config(path)
	f, err := ReadOpenClaw(path)
	if err != nil {
		return false, err
	}
	list := openclaw.Check(f.Text, c.Sidecar)
	for _, found := range list {
		if !asJSON {
			c.show(path, found)
			continue
		}
		line, err := json.Marshal(found)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(c.Out, "%s\n", line)
	}
	return openclaw.Worst(list) != openclaw.Fail, nil
}

// show prints a finding, and below it the fix.
func (c *Connector) show(path string, f openclaw.Finding) {
	ink := map[openclaw.Status]terminal.Ink{openclaw.Fail: terminal.Red,
		openclaw.Warn: terminal.Bold}[f.Status]
	c.say(ink, "%s:%d: %s %s: %s", path, f.Line, f.Status, f.Name, f.Found)
	switch {
	case f.Fix == "":
	case f.Path == "":
		c.say(terminal.Plain, "    mend it: %s", f.Fix)
	default:
		c.say(terminal.Plain, "    mend it: %s (in %s)", f.Fix, f.Path)
	}
}

// changes prints the changes of a config as diff -u does.
func (c *Connector) changes(path, format string, before, after []byte) {
	for line := range strings.Lines(connection.Diff(path, format, before, after)) {
		c.say(map[byte]terminal.Ink{'-': terminal.Red, '+': terminal.Green, '@': terminal.Faint}[line[0]],
			"%s", strings.TrimRight(line, "\r\n"))
	}
}

// say prints a line, safe for a terminal.
func (c *Connector) say(ink terminal.Ink, format string, args ...any) {
	fmt.Fprintln(c.Out, c.Colours.Paint(terminal.Printable(fmt.Sprintf(format, args...)), ink))
}

// fault is a known fault of a kind of server with calls of gpt-oss.
type fault struct {
	dialect string
	mended  string // first version without it
	what    string
	fix     string
	source  string // where that is documented
}

// faults lists the faults whose fixed version is known. The questions find others.
func faults() []fault {
	return []fault{
		{"vllm", "0.10.2", "it has no --tool-call-parser openai, so calls of gpt-oss come as text", "pip install --upgrade vllm",
			"https://github.com/vllm-project/recipes/pull/83"},
		{"ollama", "0.12.10", "a call of gpt-oss can end in error 500, unexpected error format", "update Ollama to 0.12.10 or newer",
			"https://github.com/ollama/ollama/issues/11800"},
	}
}

// faulty returns the first known fault of a version, or nil.
func faulty(dialect, version string) *fault {
	list := faults()
	i := slices.IndexFunc(list,
		func(f fault) bool { return f.dialect == dialect && older(version, f.mended) })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// older reports whether a version precedes another, by the numbers at their beginning: 0.10.2rc1 precedes
// 0.10.2. It is false for other texts, such as a commit.
func older(version, than string) bool {
	have, rest := numbers(version)
	want, _ := numbers(than)
	if len(have) < 2 {
		return false
	}
	for len(have) < len(want) {
		have = append(have, 0)
	}
	if c := slices.Compare(have[:len(want)], want); c != 0 {
		return c < 0
	}
	rest = strings.TrimLeft(rest, ".-_")
	return strings.HasPrefix(rest, "rc") || strings.HasPrefix(rest, "dev") || strings.HasPrefix(rest, "a") ||
		strings.HasPrefix(rest, "b")
}

// numbers splits a version into its leading numbers and the rest.
func numbers(version string) (out []int, rest string) {
	rest = strings.TrimPrefix(version, "v")
	for {
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(rest[:end])
		if err != nil {
			return out, rest
		}
		out, rest = append(out, n), rest[end:]
		if !strings.HasPrefix(rest, ".") || len(rest) < 2 || rest[1] < '0' || rest[1] > '9' {
			return out, rest
		}
		rest = rest[1:]
	}
}

// refused is OpenClaw's error about a config.
type refused struct{ Issues []issue }

// issue is one problem of a config.
type issue struct{ Path, Message string }

func (r *refused) Error() string {
	var b strings.Builder
	b.WriteString("OpenClaw refuses this config:")
	for _, i := range r.Issues {
		fmt.Fprintf(&b, "\n  %s: %s", i.Path, i.Message)
	}
	return b.String()
}

// about reports whether all problems are below a path.
func (r *refused) about(path string) bool {
	return !slices.ContainsFunc(r.Issues,
		func(i issue) bool { return i.Path != path && !strings.HasPrefix(i.Path, path+".") })
}

// errNoOpenClaw means that the program was not found.
var errNoOpenClaw = errors.New("openclaw is not on the PATH")

// validateTime is the timeout for OpenClaw, which starts in three seconds.
const validateTime = time.Minute

// validate asks OpenClaw whether it accepts a text as the config. *refused means that it does not; other
// errors, that it could not be asked.
func validate(ctx context.Context, path string, text []byte) (err error) {
	program, err := exec.LookPath("openclaw")
	if err != nil {
		return errNoOpenClaw
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	tmp, err := atomicfile.Stage(path, text, 0o600) // in the same folder, from which includes are found
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(tmp)) }()
	ctx, cancel := context.WithTimeout(ctx, validateTime)
	defer cancel()
	c := exec.CommandContext(ctx, program, "config", "validate", "--json")
	c.Env = append(os.Environ(), "OPENCLAW_CONFIG_PATH="+tmp)
	c.WaitDelay = time.Second
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, runErr := c.Output()
	var answer struct {
		Valid  *bool
		Issues []issue
	}
	if err := json.Unmarshal(out, &answer); err != nil || answer.Valid == nil {
		return fmt.Errorf("ask %s: no answer (%w): %.300s", program, errors.Join(runErr, err),
			bytes.TrimSpace(stderr.Bytes()))
	}
	if !*answer.Valid {
		return &refused{answer.Issues}
	}
	return nil
}
