package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
)

func rulesCommand(env Env) *cobra.Command {
	t := RulePrinter{Out: env.Out}
	var address, by string
	var never bool
	c := &cobra.Command{Use: "rules"}
	c.PersistentFlags().StringVar(&address, "admin", "", "`HOST:PORT` of the server's admin API")
	add := func(use string, args cobra.PositionalArgs,
		run func(ctx context.Context, first, second string) error) *cobra.Command {
		sub := adminCommand(env, use, args, &address, &t.Admin, run)
		c.AddCommand(sub)
		return sub
	}
	log := add("log", Arguments(0, 0),
		func(ctx context.Context, _, _ string) error { return t.Log(ctx) })
	add("diff [FROM [TO]]", Arguments(0, 2), t.Diff)
	hits := add("hits", Arguments(0, 0),
		func(ctx context.Context, _, _ string) error { return t.Hits(ctx, never) })
	hits.Flags().BoolVar(&never, "never", false, "only rules that never fired")
	back := add("rollback [VERSION]", Arguments(0, 1), func(ctx context.Context, version, _ string) error {
		user, _ := env.Lookup("USER")
		return t.Rollback(ctx, version, cmp.Or(by, user))
	})
	back.Flags().StringVar(&by, "by", "", "`NAME` of who does it, for the log (without it: $USER)")
	for _, sub := range []*cobra.Command{log, hits} {
		JSONFlag(sub, &t.JSON, "one document")
	}
	return c
}

// RulePrinter prints what a server says about its rules.
type RulePrinter struct {
	Admin *admin.Client
	Out   io.Writer
	JSON  bool // for Log and Hits
}

// Log prints the versions that were in force, newest first.
func (t *RulePrinter) Log(ctx context.Context) error {
	past, err := t.Admin.History(ctx)
	if err != nil {
		return err
	}
	if t.JSON {
		return t.document(map[string]any{"history": past})
	}
	w := tabwriter.NewWriter(t.Out, 2, 0, 2, ' ', 0)
	for _, p := range past {
		mark, changed := " ", strings.Join(p.Changed, ", ")
		if p.InForce {
			mark = "*"
		}
		by := p.By
		if p.Who != "" {
			by += ", " + p.Who
		}
		fmt.Fprintf(w, "%s %s\t%s\t%s\t%s\n", mark, p.Version, p.At.Format(time.DateTime),
			terminal.Printable(by), terminal.Printable(changed))
		for _, taken := range p.Taken {
			fmt.Fprintf(w, "  \t\t\t%s\n", terminal.Printable(taken.String()))
		}
	}
	return w.Flush()
}

// Diff prints the lines that changed between two versions. An empty to is the version in force, an empty
// from the one before it.
func (t *RulePrinter) Diff(ctx context.Context, from, to string) error {
	past, err := t.Admin.History(ctx)
	if err != nil {
		return err
	}
	if now := slices.IndexFunc(past, func(p live.Past) bool { return p.InForce }); to == "" && now >= 0 {
		to = past[now].Version
	}
	if before := slices.IndexFunc(past, func(p live.Past) bool { return p.Version != to }); from == "" &&
		before >= 0 {
		from = past[before].Version
	}
	if from == "" {
		return errors.New("there is no earlier version; rules log shows which there are")
	}
	old, err := t.Admin.Texts(ctx, from)
	if err != nil {
		return err
	}
	changed, err := t.Admin.Texts(ctx, to)
	if err != nil {
		return err
	}
	names := old.Differ(changed)
	if len(names) == 0 {
		fmt.Fprintf(t.Out, "%s and %s are the same.\n", from, to)
	}
	for _, name := range names {
		text := diff.Diff(from+"/"+name, []byte(old[name]), to+"/"+name, []byte(changed[name]))
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "diff ") {
				fmt.Fprintln(t.Out, terminal.Printable(strings.TrimSuffix(line, "\n")))
			}
		}
	}
	return nil
}

// Hits prints how often each rule fired since the server started, or with never the rules that did not.
func (t *RulePrinter) Hits(ctx context.Context, never bool) error {
	hits, err := t.Admin.Hits(ctx)
	if err != nil {
		return err
	}
	all := len(hits.Rules)
	if never {
		hits.Rules = slices.DeleteFunc(hits.Rules, func(r live.RuleHits) bool { return r.Hits > 0 })
	}
	if t.JSON {
		return t.document(hits)
	}
	w := tabwriter.NewWriter(t.Out, 2, 0, 2, ' ', 0)
	silent := 0
	for _, r := range hits.Rules {
		times := fmt.Sprintf("%.0f", r.Hits)
		if r.Hits == 0 {
			times = "never"
			silent++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", times, terminal.Printable(r.ID), strings.Join(r.Places, " "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.Out, "%d of %d rules never fired since %s.\n", silent, all,
		hits.Since.Format(time.DateTime))
	return err
}

// Rollback restores a version in the name of by; "" is the previous version.
func (t *RulePrinter) Rollback(ctx context.Context, version, by string) error {
	now, err := t.Admin.Rules(ctx)
	if err != nil {
		return err
	}
	edited, err := t.Admin.Rollback(ctx, version, by, now.Version)
	if err != nil {
		return err
	}
	if !edited.Changed {
		fmt.Fprintf(t.Out, "rules %s: nothing to do, they are in force already\n", edited.Version)
		return nil
	}
	fmt.Fprintf(t.Out, "rules %s: in force; before, %s was\n", edited.Version, now.Version)
	for i := range edited.Warnings {
		fmt.Fprintln(t.Out, terminal.Printable(edited.Warnings[i].Error()))
	}
	return nil
}

func (t *RulePrinter) document(v any) error {
	enc := json.NewEncoder(t.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
