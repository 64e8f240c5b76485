package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Rollout publishes rules to the folder of a server.
type Rollout struct {
	From     string        // folder to publish; empty: the previous files of Target
	Target   string        // folder of the server; empty: as Admin says
	Policy   string        // locked folder
	By       string        // origin of the rules in the server's log; empty: saved files
	Admin    *admin.Client // of the server; nil: none
	Wait     time.Duration // timeout for the server
	Builtin  func() (rulefile.Files, error)
	Loader   ruleset.Loader
	Out, Err io.Writer
}

// source returns the published folder, over the built-in rules.
func (r *Rollout) source() (rulefile.Source, error) {
	builtin, err := r.Builtin()
	return r.Loader.Source(r.From, r.Policy, builtin), err
}

// Run checks and publishes the rules, and waits until the server uses them.
func (r *Rollout) Run(ctx context.Context) error {
	var before live.Report
	if r.Admin != nil {
		var err error
		if before, err = r.Admin.Rules(ctx); err != nil {
			return err
		}
	}
	if err := r.FindTarget(before); err != nil {
		return err
	}
	files, err := r.read()
	if err != nil {
		return err
	}
	version, err := r.check(ctx, files)
	if err != nil {
		return err
	}
	now, err := rulefile.ReadDir(r.Target)
	if changed := files.Differ(now); err == nil && len(changed) == 0 && (r.Admin == nil ||
		before.Version == version) {
		fmt.Fprintf(r.Out, "rules %s: nothing to do, they are in %s already\n", version, r.Target)
		return nil
	}
	began := time.Now()
	change, err := live.ReplaceFiles(r.Target, files, r.By)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.Out, "rules %s: published %d files to %s\n", version, len(files), r.Target)
	if r.Admin == nil {
		fmt.Fprintln(r.Out, "Without --admin, apply cannot see whether the server takes these rules. Look for rules_taken in its log.")
		r.keep(change)
		return nil
	}
	if err := r.waitInForce(ctx, version, before); err != nil {
		return r.putBack(change, files, err)
	}
	fmt.Fprintf(r.Out, "rules %s: in force after %d ms\n", version, time.Since(began).Milliseconds())
	r.keep(change)
	return nil
}

// keep keeps the previous files for --undo. Its failure does not fail the rollout.
func (r *Rollout) keep(change *live.Change) {
	if err := change.Keep(); err != nil {
		fmt.Fprintf(r.Err, "warning: apply --undo will not work: %v\n", err)
	}
}

// differ reports whether both folders are on this machine and differ. A folder that is not here may be
// the same one under the server's name for it.
func differ(target, served string) bool {
	here, err := os.Stat(target)
	there, err2 := os.Stat(served)
	return err == nil && err2 == nil && !os.SameFile(here, there)
}

// FindTarget asks the server for the folder if Target is empty.
func (r *Rollout) FindTarget(server live.Report) error {
	if info, err := os.Stat(r.Target); r.Target != "" && (err != nil || !info.IsDir()) {
		return fmt.Errorf("%s is not a folder; is the name right? To make a new one: gpt-oss-executor init %[1]s", r.Target)
	}
	switch {
	case r.Target != "" && r.Admin != nil && differ(r.Target, server.Folder):
		return fmt.Errorf("the server at --admin uses the folder %s, not %s", server.Folder, r.Target)
	case r.Target != "":
		return nil
	case r.Admin == nil:
		return errors.New("where to? Name the server's folder with --rules, or its admin API with --admin")
	case server.Folder == "":
		return errors.New("the server uses its built-in rules; start it with --rules FOLDER")
	}
	if info, err := os.Stat(server.Folder); err != nil || !info.IsDir() || !r.Admin.Local() {
		return fmt.Errorf("the server's folder %s is not on this machine; name it with --rules, by its path here", server.Folder)
	}
	r.Target = server.Folder
	if r.Policy == "" {
		r.Policy = server.Policy
	}
	return nil
}

// read reads the files once, so that what is checked is what is published.
func (r *Rollout) read() (rulefile.Files, error) {
	if r.From == "" {
		kept, err := live.Previous(r.Target)
		if err != nil {
			return nil, err
		}
		r.From = kept
	}
	from, err := os.Stat(r.From)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	if to, err := os.Stat(r.Target); err == nil && os.SameFile(from, to) {
		return nil, fmt.Errorf("%s is the server's folder itself; edit a copy and apply that", r.From)
	}
	return rulefile.ReadDir(r.From)
}

// check compiles the files here, and asks the server which version they make there: it may have other
// built-in files or another locked folder.
func (r *Rollout) check(ctx context.Context, files rulefile.Files) (version string, err error) {
	src, err := r.source()
	if err != nil {
		return "", err
	}
	whole, err := src.Whole(files)
	if err != nil {
		return "", err
	}
	set, problems := r.Loader.Load(whole)
	if problems = append(problems, src.Ignored()...); len(problems) > 0 {
		fmt.Fprintln(r.Err, problems.In(src).Error())
	}
	if set == nil {
		return "", errors.New("these rules do not load; nothing was published")
	}
	for _, t := range set.Taken {
		fmt.Fprintln(r.Out, t)
	}
	if r.Admin == nil {
		return set.Version, nil
	}
	version, err = r.Admin.Check(ctx, files)
	if errors.As(err, &problems) {
		fmt.Fprintln(r.Err, problems.Error())
		return "", errors.New("the server would refuse these rules; nothing was published")
	}
	return version, err
}

// waitInForce waits until the server uses a version. The error says why it does not.
func (r *Rollout) waitInForce(ctx context.Context, version string, before live.Report) error {
	ctx, stop := context.WithTimeout(ctx, r.Wait)
	defer stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	last := error(nil)
	for {
		now, err := r.Admin.Rules(ctx)
		switch no := now.Refused; {
		case err != nil:
			if ctx.Err() == nil {
				last = err // it may be restarting
			}
		case now.Version == version:
			return nil
		case no != nil && no.Version == version && (before.Refused == nil || !no.At.Equal(before.Refused.At)):
			return no.Problems
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return errors.New("interrupted")
			}
			err := fmt.Errorf("the server has not taken these rules within %s; does it use %s?", r.Wait,
				r.Target)
			return errors.Join(err, last)
		case <-tick.C:
		}
	}
}

// putBack undoes a publication, unless its files were edited since.
func (r *Rollout) putBack(change *live.Change, files rulefile.Files, why error) error {
	if now, err := rulefile.ReadDir(r.Target); err == nil && len(now.Differ(files)) > 0 {
		r.keep(change)
		return errors.Join(why, fmt.Errorf("%s was edited meanwhile, so it is left as it is", r.Target))
	}
	if err := change.Undo(); err != nil {
		return errors.Join(why, err)
	}
	return errors.Join(why, fmt.Errorf("the old files of %s are back", filepath.Clean(r.Target)))
}

func applyCommand(env Env) *cobra.Command {
	a := NewRollout(env)
	var admin string
	var undo bool
	c := &cobra.Command{
		Use: "apply DIR",
		Args: func(c *cobra.Command, args []string) error {
			if undo {
				return Arguments(0, 0)(c, args)
			}
			return Arguments(1, 1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			if len(args) == 1 {
				a.From = args[0]
			}
			if a.Admin, err = AdminFrom(admin, c, env); err != nil {
				return err
			}
			if a.Admin != nil {
				defer a.Admin.Close()
			} else if c.Flags().Changed("wait") {
				return Misused(c, errors.New("--wait has an effect only with --admin"))
			}
			ctx, stop := UntilStopped(c)
			defer stop()
			return a.Run(ctx)
		},
	}
	f := c.Flags()
	f.StringVar(&a.Target, "rules", "",
		"folder `DIR` of the server (without it: the one that the server at --admin names)")
	PolicyFlag(c, env, &a.Policy)
	f.StringVar(&admin, "admin", "", "`HOST:PORT` of the server's admin API")
	f.BoolVar(&undo, "undo", false, "bring back the files that were there before")
	f.DurationVar(&a.Wait, "wait", 10*time.Second, "`TIME` that the server may take")
	return c
}

// NewRollout returns a rollout with its defaults, which a command completes.
func NewRollout(env Env) Rollout {
	return Rollout{Loader: env.Loader(), Wait: 10 * time.Second, Out: env.Out, Err: env.Err,
		Builtin: func() (rulefile.Files, error) { return rulefile.Builtin(env.Defaults) }}
}
