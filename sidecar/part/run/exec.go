package run

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

const (
	maxOutput = 256 << 10              // bytes of output that are kept, half from each end
	exitDelay = 500 * time.Millisecond // how long a command may take to end after its time is over
)

// exec runs a command with bash, as the guard has wrapped it. When it ends, its process group ends
// too.
func (w *toolCall) exec() tools.Result {
	ctx := w.ctx
	if s := w.in.TimeoutSeconds; s > 0 && s < (1<<20) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(s*float64(time.Second)))
		defer cancel()
	}
	folder := w.call.Folder()
	if w.in.Workdir != "" && filepath.IsAbs(w.in.Workdir) {
		folder = w.in.Workdir
	} else if w.in.Workdir != "" {
		folder = filepath.Join(folder, w.in.Workdir)
	}
	var out headTail
	c := exec.CommandContext(ctx, "bash", "-c", w.in.Command)
	c.Dir, c.Env, c.Stdout, c.Stderr, c.WaitDelay = folder, safeEnviron(w.Environ), &out, &out, exitDelay
	setGroup(c)
	err := c.Run()
	killGroup(c)
	text := out.text()
	var code *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return tools.Result{Failed: true, Doubt: true,
			Text: strings.TrimRight("The command took too long, and was ended. It printed:\n"+text, "\n")}
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return tools.Result{Text: text}
	case errors.As(err, &code):
		how := code.Error() // by which signal it ended
		if n := code.ExitCode(); n >= 0 {
			how = fmt.Sprintf("exit code %d", n)
		}
		return tools.Result{Failed: true,
			Text: strings.TrimLeft(fmt.Sprintf("%s\n(%s)", strings.TrimRight(text, "\n"), how), "\n")}
	}
	return failed(err)
}

// safeVariables are the environment variables that commands get: none of them is a secret.
var safeVariables = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SHELL",
	"TERM"}

// safeEnviron returns the safe variables of an environment.
func safeEnviron(environ []string) (out []string) {
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if slices.Contains(safeVariables, name) || strings.HasPrefix(name, "LC_") {
			out = append(out, pair)
		}
	}
	return out
}

// headTail keeps the beginning and the end of a command's output.
type headTail struct {
	head, tail []byte
	dropped    int
}

// Write never fails: a command must not end because it prints much.
func (e *headTail) Write(p []byte) (int, error) {
	n := len(p)
	if room := maxOutput/2 - len(e.head); room > 0 {
		take := min(room, len(p))
		e.head, p = append(e.head, p[:take]...), p[take:]
	}
	e.tail = append(e.tail, p...)
	if over := len(e.tail) - maxOutput; over > 0 { // twice what is kept, so that little is copied
		e.drop(len(e.tail) - maxOutput/2)
	}
	return n, nil
}

func (e *headTail) drop(n int) {
	e.dropped += n
	e.tail = append(e.tail[:0], e.tail[n:]...)
}

func (e *headTail) text() string {
	if n := len(e.tail) - maxOutput/2; n > 0 {
		e.drop(n)
	}
	if e.dropped == 0 {
		return strings.ToValidUTF8(string(e.head)+string(e.tail), "\uFFFD")
	}
	head, tail := trimRunes(e.head, e.tail)
	lost := e.dropped + len(e.head) - len(head) + len(e.tail) - len(tail)
	return strings.ToValidUTF8(fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, lost, tail), "\uFFFD")
}

// trimRunes removes the characters that a cut between head and tail has split.
func trimRunes(head, tail []byte) (a, b []byte) {
	for n := range min(utf8.UTFMax, len(head)) {
		if last := len(head) - 1 - n; utf8.RuneStart(head[last]) {
			if !utf8.FullRune(head[last:]) {
				head = head[:last]
			}
			break
		}
	}
	for n := 1; n < utf8.UTFMax && len(tail) > 0 && !utf8.RuneStart(tail[0]); n++ {
		tail = tail[1:]
	}
	return head, tail
}
