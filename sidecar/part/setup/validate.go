package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

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
