package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

var someProblems = rulefile.Problems{
	{File: "rules/a.yaml", Line: 2, Col: 3, EndCol: 6, Code: "E-name", Msg: "a condition here sees no txt", Hint: "did you mean text?", Source: "  txt"},
	{File: "rules/b.yaml", Code: "E-file", Msg: "this file is\nlevel=INFO msg=\x1b[2Jforged"},
}

// Problems stand below their line, each line of them behind a bar; everything else is on
// one line, as slog writes it.
func TestLogBlocks(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(newBlocks(&out,
		&slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	log.Error("refused", "event", "rules_refused", "problems", someProblems, "by", "watch")
	log.With("x", 1).WithGroup("g").Info("said", "detail", "two\nlines", "problems", rulefile.Problems{})
	log.Debug("unseen", "problems", someProblems)
	const want = `level=ERROR msg=refused event=rules_refused problems=2 by=watch
  | rules/a.yaml:2:3: a condition here sees no txt [E-name]
  |      2 |   txt
  |        |   ^^^
  |          did you mean text?
  | rules/b.yaml: this file is
  | level=INFO msg=\x1b[2Jforged [E-file]
level=INFO msg=said x=1 g.detail="two\nlines" g.problems=0
`
	if got := out.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// In JSON, problems are one text.
func TestLogJSON(t *testing.T) {
	var out bytes.Buffer
	log, err := OpenLog(config.Settings{LogLevel: "info", LogFormat: "json"}, nil, &out)
	if err != nil {
		t.Fatal(err)
	}
	log.Error("refused", "problems", someProblems)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line["problems"] != someProblems.Error() {
		t.Errorf("%v %v", line, err)
	}
}

// It is a handler as slog wants them.
func TestLogIsAHandler(t *testing.T) {
	var out bytes.Buffer
	err := slogtest.TestHandler(newBlocks(&out, nil), func() (list []map[string]any) {
		for line := range strings.Lines(out.String()) {
			at := map[string]any{}
			for pair := range strings.FieldsSeq(line) {
				key, value, _ := strings.Cut(pair, "=")
				in := at
				for {
					group, rest, more := strings.Cut(key, ".")
					if !more {
						break
					}
					if in[group] == nil {
						in[group] = map[string]any{}
					}
					in, key = in[group].(map[string]any), rest
				}
				in[key] = value
			}
			list = append(list, at)
		}
		return list
	})
	if err != nil {
		t.Error(err)
	}
}

// Many write at once, and each record stays in one piece.
func TestLogInOnePiece(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(newBlocks(&out, nil))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				log.With("by", i).Error("refused", "problems", someProblems)
			}
		})
	}
	all.Wait()
	block := "  | " + strings.ReplaceAll(someProblems.Error(), "\n", "\n  | ")
	block = strings.ReplaceAll(block, "\x1b", `\x1b`)
	if got := strings.Count(out.String(), fmt.Sprintf(" problems=2\n%s\n", block)); got != 400 {
		t.Errorf("%d of 400 in one piece", got)
	}
}

// Lines in JSON say which request and which trace they are about; those in text stay short.
func TestPlaces(t *testing.T) {
	ctx := telemetry.WithPlace(context.Background(), telemetry.Place{Request: "r1",
		Trace: "4bf92f3577b34da6a3ce929d0e0e4736", Span: "00f067aa0ba902b7"})
	for format, want := range map[string]bool{"json": true, "text": false} {
		var out bytes.Buffer
		log, err := OpenLog(config.Settings{LogLevel: "info", LogFormat: format, LogOutput: "stdout",
			ErrorLog: t.TempDir()}, &out, &out)
		if err != nil {
			t.Fatal(err)
		}
		telemetry.BindLog(log.Logger, ctx).Warn("a", "event", "x")
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		for _, part := range []string{"r1", "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"} {
			if strings.Contains(out.String(), part) != want {
				t.Errorf("%s: %s", format, &out)
			}
		}
	}
}
