package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// maxLine is the longest record that explain reads.
const maxLine = 64 << 20

func explainCommand(env Env) *cobra.Command {
	var dir, profile string
	var lines bool
	c := &cobra.Command{
		Use:   "explain [FILE]",
		Short: "How is a reply read? Step by step",
		Long: `How is a reply read, step by step? FILE (or standard input) holds a reply as a
server sends it: a chat completion, a message, or plain text that the model wrote.

With --jsonl each line is a record {"id", "message" or "chunks", "tools",
"finish_reason"?, "upstream_error"?}, and each answer one line of JSON. "tools" holds
names or OpenAI tool objects; [] means that none was offered, null that it is not known.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := loadRules(dir, env)
			if err != nil {
				return err
			}
			if profile != "" && set.Strategies(profile) == set.Strategies(ruleset.DefaultProfile) && profile != ruleset.DefaultProfile {
				return fmt.Errorf("no profile %q in strategies.yaml", profile)
			}
			in := env.In
			if len(args) == 1 && args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("explain: %w", err)
				}
				defer f.Close()
				in = f
			}
			if lines {
				return explainLines(set, profile, in, env.Out)
			}
			return explainOne(set, profile, in, env.Out)
		},
	}
	c.Flags().BoolVar(&lines, "jsonl", false, "read one record a line, write one answer a line")
	c.Flags().StringVar(&profile, "profile", "", "profile of strategies.yaml")
	rulesFlag(c, &dir)
	return c
}

// explainLines answers each record in its place; a bad one does not stop the rest.
func explainLines(set *ruleset.Set, profile string, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	w := bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	n, bad := 0, 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var rec sidecar.Record
		err := json.Unmarshal(line, &rec)
		var answer any
		if err == nil {
			answer, err = sidecar.Explain(set, profile, &rec)
		}
		if err != nil {
			bad++
			answer = map[string]any{"id": rec.ID, "error": fmt.Sprintf("line %d: %v", n, err)}
		}
		if err := enc.Encode(answer); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d lines could not be read", bad, n)
	}
	return nil
}

// explainOne shows one reply to a person.
func explainOne(set *ruleset.Set, profile string, in io.Reader, out io.Writer) error {
	doc, err := io.ReadAll(io.LimitReader(in, maxLine))
	if err != nil {
		return fmt.Errorf("explain: %w", err)
	}
	rec, err := anyReply(doc)
	if err != nil {
		return err
	}
	e, err := sidecar.Explain(set, profile, rec)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "rules %s\n", e.Version)
	for _, s := range e.Trace {
		fmt.Fprintf(out, "  %-12s %-9s %s %d–%d  %s  %s\n", s.Strategy, s.Outcome, s.Field, s.From, s.To, s.Note, s.Rule)
	}
	if len(e.Trace) == 0 {
		fmt.Fprintln(out, "  nothing in it looks like markup or a call")
	}
	for _, c := range e.Calls {
		fmt.Fprintf(out, "call       %s %s  (%s, %.2f)\n", c.Name, c.Arguments, c.Strategy, c.Confidence)
		for _, r := range c.Repairs {
			fmt.Fprintf(out, "             %s at %d: %q → %q  %s\n", r.Kind, r.At, r.From, r.To, r.Rule)
		}
	}
	for _, r := range e.Refused {
		fmt.Fprintf(out, "refused    %s: %s\n", r.Code, r.Why)
	}
	fmt.Fprintf(out, "content    %q\nreasoning  %q\nfinish     %s\n", e.Content, e.Reasoning, e.Finish)
	return nil
}

// anyReply makes a record of whatever a person has at hand.
func anyReply(doc []byte) (*sidecar.Record, error) {
	text := bytes.TrimSpace(doc)
	if len(text) == 0 {
		return nil, errors.New("explain: nothing to read")
	}
	var whole struct {
		sidecar.Record
		Choices []struct {
			Message json.RawMessage `json:"message"`
			Finish  string          `json:"finish_reason"`
		} `json:"choices"`
		Content   json.RawMessage `json:"content"`
		ToolCalls json.RawMessage `json:"tool_calls"`
	}
	if text[0] == '{' && json.Unmarshal(text, &whole) == nil {
		rec := &whole.Record
		switch {
		case len(whole.Choices) > 0 && whole.Choices[0].Message == nil: // a piece of a stream
			rec.Chunks = []json.RawMessage{text}
			return rec, nil
		case len(whole.Choices) > 0:
			rec.Message, rec.Finish = whole.Choices[0].Message, whole.Choices[0].Finish
			return rec, nil
		case rec.Message != nil || rec.Chunks != nil || rec.Upstream != nil:
			return rec, nil
		case whole.Content != nil || whole.ToolCalls != nil:
			rec.Message = text
			return rec, nil
		}
	}
	if bytes.HasPrefix(text, []byte("data:")) {
		rec := &sidecar.Record{}
		for line := range strings.Lines(string(text)) {
			data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
			if data = strings.TrimSpace(data); ok && data != "[DONE]" {
				rec.Chunks = append(rec.Chunks, json.RawMessage(data))
			}
		}
		return rec, nil
	}
	message, err := json.Marshal(map[string]string{"content": string(doc)})
	return &sidecar.Record{Message: message}, err
}
