package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/publish"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// application is one run of apply.
type application struct {
	from   string // folder whose files are published; empty: what stood in target before
	target string
	policy string
	admin  *admin.Client // nil: nobody can be asked
	wait   time.Duration
	env    Env
}

func applyCommand(env Env) *cobra.Command {
	a := application{env: env}
	var admin string
	var undo bool
	c := &cobra.Command{
		Use:   "apply DIR",
		Short: "Publish the rules in DIR to a running server, whole or not at all",
		Long: `Publish the rules in DIR to the folder of a running server, all files at once.

The rules are checked first. The files that were there before are kept in
FOLDER/.previous; apply --undo brings them back. With --admin, apply waits until the
server uses the new rules. If the server refuses them, or does not take them in time,
apply puts the old files back and ends with exit code 1.

The address of the admin API comes from --admin or ` + config.Prefix + `ADMIN, its
token from ` + config.Prefix + `ADMIN_TOKEN.`,
		Example: `  gpt-oss-executor apply new-rules --rules my-rules --admin 127.0.0.1:8002
  gpt-oss-executor apply --undo --rules my-rules --admin 127.0.0.1:8002`,
		Args: func(c *cobra.Command, args []string) error {
			if undo {
				return cobra.NoArgs(c, args)
			}
			return cobra.ExactArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			if len(args) == 1 {
				a.from = args[0]
			}
			if a.admin, err = adminFrom(admin, c, env); err != nil {
				return err
			}
			if a.admin != nil {
				defer a.admin.Close()
			}
			ctx, stop := untilStopped(c)
			defer stop()
			return a.run(ctx)
		},
	}
	f := c.Flags()
	f.StringVar(&a.target, "rules", "", "folder `DIR` of the server (without it: the one that the server at --admin names)")
	policyFlag(c, env, &a.policy)
	f.StringVar(&admin, "admin", "", "`HOST:PORT` of the server's admin API")
	f.BoolVar(&undo, "undo", false, "bring back the files that were there before")
	f.DurationVar(&a.wait, "wait", 10*time.Second, "`TIME` that the server may take")
	return c
}

// run checks, publishes, and waits.
func (a *application) run(ctx context.Context) error {
	var before live.Report
	if a.admin != nil {
		var err error
		if before, err = a.admin.Rules(ctx); err != nil {
			return err
		}
	}
	if err := a.findTarget(before); err != nil {
		return err
	}
	files, err := a.read()
	if err != nil {
		return err
	}
	version, err := a.check(ctx, files)
	if err != nil {
		return err
	}
	now, err := rulefile.ReadDir(a.target)
	if changed := files.Differ(now); err == nil && len(changed) == 0 && (a.admin == nil || before.Version == version) {
		fmt.Fprintf(a.env.Out, "rules %s: nothing to do, they are in %s already\n", version, a.target)
		return nil
	}
	began := time.Now()
	change, err := publish.Folder(a.target, files)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.env.Out, "rules %s: published %d files to %s\n", version, len(files), a.target)
	if a.admin == nil {
		fmt.Fprintln(a.env.Out, "Without --admin, apply cannot see whether the server takes these rules. Look for rules_taken in its log.")
		a.keep(change)
		return nil
	}
	if err := a.taken(ctx, version, before); err != nil {
		return a.putBack(change, files, err)
	}
	fmt.Fprintf(a.env.Out, "rules %s: in force after %d ms\n", version, time.Since(began).Milliseconds())
	a.keep(change)
	return nil
}

// keep keeps what stood there before. Without it the new rules are as good, and
// only --undo has nothing to bring back.
func (a *application) keep(change *publish.Change) {
	if err := change.Keep(); err != nil {
		fmt.Fprintf(a.env.Err, "warning: apply --undo will not work: %v\n", err)
	}
}

// elsewhere reports whether both folders are on this machine and not the same. What is
// not here may be the same under the name that the server knows.
func elsewhere(target, served string) bool {
	here, err := os.Stat(target)
	there, err2 := os.Stat(served)
	return err == nil && err2 == nil && !os.SameFile(here, there)
}

// findTarget finds the folder to publish to, where no flag says it.
func (a *application) findTarget(server live.Report) error {
	if info, err := os.Stat(a.target); a.target != "" && (err != nil || !info.IsDir()) {
		return fmt.Errorf("%s is not a folder; is the name right? To make a new one: gpt-oss-executor init %[1]s", a.target)
	}
	switch {
	case a.target != "" && a.admin != nil && elsewhere(a.target, server.Folder):
		return fmt.Errorf("the server at --admin uses the folder %s, not %s", server.Folder, a.target)
	case a.target != "":
		return nil
	case a.admin == nil:
		return errors.New("where to? Name the server's folder with --rules, or its admin API with --admin")
	case server.Folder == "":
		return errors.New("the server uses its built-in rules; start it with --rules FOLDER")
	}
	if info, err := os.Stat(server.Folder); err != nil || !info.IsDir() || !a.admin.Local() {
		return fmt.Errorf("the server's folder %s is not on this machine; name it with --rules, by its path here", server.Folder)
	}
	a.target = server.Folder
	if a.policy == "" {
		a.policy = server.Policy
	}
	return nil
}

// read takes one copy of the files: what is checked is what is published.
func (a *application) read() (rulefile.Files, error) {
	if a.from == "" {
		kept, err := publish.Previous(a.target)
		if err != nil {
			return nil, err
		}
		a.from = kept
	}
	from, err := os.Stat(a.from)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	if to, err := os.Stat(a.target); err == nil && os.SameFile(from, to) {
		return nil, fmt.Errorf("%s is the server's folder itself; edit a copy and apply that", a.from)
	}
	return rulefile.ReadDir(a.from)
}

// check compiles the files here, and asks the server for the version that they
// are to it: it may have other built-in files, and another locked folder.
func (a *application) check(ctx context.Context, files rulefile.Files) (version string, err error) {
	src, err := rulesIn(a.from, a.policy, a.env)
	if err != nil {
		return "", err
	}
	whole, err := src.Whole(files)
	if err != nil {
		return "", err
	}
	set, problems := ruleset.Load(whole)
	if len(problems) > 0 {
		fmt.Fprintln(a.env.Err, problems.In(src).Error())
	}
	if set == nil {
		return "", errors.New("these rules do not load; nothing was published")
	}
	if a.admin == nil {
		return set.Version, nil
	}
	version, err = a.admin.Check(ctx, files)
	if errors.As(err, &problems) {
		fmt.Fprintln(a.env.Err, problems.Error())
		return "", errors.New("the server would refuse these rules; nothing was published")
	}
	return version, err
}

// taken waits until the server has a version in force. The error says why it does
// not.
func (a *application) taken(ctx context.Context, version string, before live.Report) error {
	ctx, stop := context.WithTimeout(ctx, a.wait)
	defer stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	last := error(nil)
	for {
		now, err := a.admin.Rules(ctx)
		switch r := now.Refused; {
		case err != nil:
			if ctx.Err() == nil {
				last = err // it may be starting again
			}
		case now.Version == version:
			return nil
		case r != nil && r.Version == version && (before.Refused == nil || !r.At.Equal(before.Refused.At)):
			return r.Problems
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return errors.New("interrupted")
			}
			err := fmt.Errorf("the server has not taken these rules within %s; does it use %s?", a.wait, a.target)
			return errors.Join(err, last)
		case <-tick.C:
		}
	}
}

// putBack undoes a publication, unless somebody has edited what it published.
func (a *application) putBack(change *publish.Change, files rulefile.Files, why error) error {
	if now, err := rulefile.ReadDir(a.target); err == nil && len(now.Differ(files)) > 0 {
		a.keep(change)
		return errors.Join(why, fmt.Errorf("%s was edited meanwhile, so it is left as it is", a.target))
	}
	if err := change.Undo(); err != nil {
		return errors.Join(why, err)
	}
	return errors.Join(why, fmt.Errorf("the old files of %s are back", filepath.Clean(a.target)))
}
