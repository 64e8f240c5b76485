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
	maxOutput = 256 << 10              // bytes of what a command prints that are kept, half from each end
	lastWords = 500 * time.Millisecond // that a command may take to end after its time is over
)

// exec runs a command with bash. Where the guard has confined it, the line is one that does
// so. All that it has started in its process group ends with it.
func (w *toolWork) exec() tools.Result {
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
	var out ends
	c := exec.CommandContext(ctx, "bash", "-c", w.in.Command)
	c.Dir, c.Env, c.Stdout, c.Stderr, c.WaitDelay = folder, harmless(w.Environ), &out, &out, lastWords
	group(c)
	err := c.Run()
	endGroup(c)
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

// passedOn are the variables that commands get: none of them is a secret.
var passedOn = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SHELL",
	"TERM"}

// harmless are those of this program's variables.
func harmless(environ []string) (out []string) {
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if slices.Contains(passedOn, name) || strings.HasPrefix(name, "LC_") {
			out = append(out, pair)
		}
	}
	return out
}

// ends keeps the beginning and the end of what a command prints.
type ends struct {
	head, tail []byte
	lost       int
}

// Write never fails: a command must not end because it prints much.
func (e *ends) Write(p []byte) (int, error) {
	n := len(p)
	if room := maxOutput/2 - len(e.head); room > 0 {
		take := min(room, len(p))
		e.head, p = append(e.head, p[:take]...), p[take:]
	}
	e.tail = append(e.tail, p...)
	if over := len(e.tail) - maxOutput; over > 0 { // twice what is kept, so that little is copied
		e.cut(len(e.tail) - maxOutput/2)
	}
	return n, nil
}

func (e *ends) cut(n int) {
	e.lost += n
	e.tail = append(e.tail[:0], e.tail[n:]...)
}

func (e *ends) text() string {
	if n := len(e.tail) - maxOutput/2; n > 0 {
		e.cut(n)
	}
	if e.lost == 0 {
		return strings.ToValidUTF8(string(e.head)+string(e.tail), "\uFFFD")
	}
	head, tail := whole(e.head, e.tail)
	lost := e.lost + len(e.head) - len(head) + len(e.tail) - len(tail)
	return strings.ToValidUTF8(fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, lost, tail), "\uFFFD")
}

// whole are what is left of two texts without the characters that were cut, one at the end of head and
// one at the beginning of tail.
func whole(head, tail []byte) (a, b []byte) {
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
