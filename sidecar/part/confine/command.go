package confine

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

// confineFlags are the flags of the command confine.
type confineFlags struct {
	write, read, deny, fixed    []string
	net, proxy, limits, session string
	ticket                      string
	probe, asJSON               bool
}

func confineCommand(env cli.Env) *cobra.Command {
	var f confineFlags
	c := &cobra.Command{
		Use:   "confine [FLAGS] -- COMMAND…",
		Short: "Run a command that can touch what it was given, and nothing else",
		Long: `Run a command that can touch what it was given, and nothing else: the kernel refuses the
rest. It may read the system (/usr, /etc without secrets, /proc …) and what --read and
--write name, change what --write names, and connect to servers that it started itself.
Variables that look like secrets are cut out of its environment. When it ends, all that it
started ends.

The exit code is that of COMMAND, 128 and the number of a signal if one ended it, 127 if
there is no such command, 126 if it cannot be run, and 125 if this machine cannot confine.
--probe says what it can. No root is needed; Linux 5.13 or later with Landlock is.`,
		Example: `  gpt-oss-executor confine --write . -- npm test
  gpt-oss-executor confine --write . --deny .env -- bash -c 'git log'
  gpt-oss-executor confine --write . --limits time=10m,memory=4G -- make
  gpt-oss-executor confine --probe`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case f.probe && len(args) > 0:
				return errors.New("--probe runs no command")
			case !f.probe && len(args) == 0:
				return errors.New("no command to run; it stands behind --")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.probe {
				return probeConfine(env, f.asJSON)
			}
			in, _ := env.In.(*os.File)
			streams := walls.Streams{In: in, Out: env.Stdout(), Err: env.Err}
			code := 0
			if f.ticket != "" {
				code = walls.RunTicket(c.Context(), f.ticket, args, env.Environ, streams)
			} else {
				box, err := f.box(env, args)
				if err != nil {
					return cli.Misused(c, err)
				}
				if code, err = walls.Run(box, streams); err != nil {
					fmt.Fprintln(env.Err, "gpt-oss-executor confine:", err)
				}
			}
			if code != 0 {
				return cli.Exit(code)
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.SetInterspersed(false)
	flags.StringArrayVar(&f.write, "write", nil, "`DIR` may be read and changed; may be given again")
	flags.StringArrayVar(&f.read, "read", nil, "`DIR` may be read, beside the system; may be given again")
	flags.StringArrayVar(&f.deny, "deny", nil,
		"`PATH` cannot be read or changed, though it lies below one of those; may be given again")
	flags.StringArrayVar(&f.fixed, "fixed", nil,
		"`PATH` cannot be changed, though it lies below --write; may be given again")
	flags.StringVar(&f.net, "net", string(walls.NetNone),
		"`NET` is none, proxy (--proxy alone) or open; servers of the same session are reached in any case")
	flags.StringVar(&f.proxy, "proxy", "", "`URL` of the proxy on this machine, for --net proxy")
	flags.StringVar(&f.limits, "limits", "",
		"`LIMITS`: any of time=10m,processes=512,memory=4G,file=2G and output=64M,open=4096")
	flags.StringVar(&f.session, "session", "",
		"`NAME` of a session, whose commands reach each other's servers and may end each other")
	flags.StringVar(&f.ticket, "ticket", "",
		"`FILE` that serve has written for exactly this command; it says all of the above")
	flags.BoolVar(&f.probe, "probe", false, "run nothing; say what this machine enforces")
	cli.JSONFlag(c, &f.asJSON, "with --probe, one document")
	cli.Modes(c, "ticket:", "probe: json", ": write read deny fixed net proxy limits session")
	_ = c.RegisterFlagCompletionFunc("net", cobra.FixedCompletions([]string{"none", "proxy", "open"},
		cobra.ShellCompDirectiveNoFileComp))
	return c
}

// box returns the box that the flags describe.
func (f *confineFlags) box(env cli.Env, command []string) (walls.Box, error) {
	b := walls.System()
	b.Command, b.Net, b.Session = command, walls.Net(f.net), f.session
	b.Env = walls.Environ(env.Environ, walls.SecretNames())
	for _, add := range []struct {
		to    *[]string
		paths []string
	}{{&b.Write, f.write}, {&b.Read, f.read}, {&b.Deny, f.deny}, {&b.Fixed, f.fixed}} {
		for _, path := range add.paths {
			path, err := filepath.Abs(path)
			if err != nil {
				return b, fmt.Errorf("find %s: %w", path, err)
			}
			*add.to = append(*add.to, path)
		}
	}
	var err error
	if b.Limits, err = walls.ParseLimits(f.limits); err != nil {
		return b, err
	}
	if !slices.Contains([]walls.Net{walls.NetNone, walls.NetProxy, walls.NetOpen}, b.Net) {
		return b, fmt.Errorf("--net takes none, proxy or open, not %q", f.net)
	}
	if (b.Net == walls.NetProxy) != (f.proxy != "") {
		return b, errors.New("--net proxy and --proxy URL go together")
	}
	if f.proxy != "" {
		u, err := url.Parse(f.proxy)
		if err != nil || u.Port() == "" {
			return b, fmt.Errorf("--proxy takes a URL with a port, such as http://127.0.0.1:8080, not %q",
				f.proxy)
		}
		b.Proxy = u.Host
		b.Env = walls.WithProxy(b.Env, f.proxy)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return b, nil // without a home there are no records, and no session
	}
	b.Records = filepath.Join(cache, "gpt-oss-executor", "confined")
	return b, nil
}

// probeConfine prints what this machine enforces. It fails if a part is missing.
func probeConfine(env cli.Env, asJSON bool) error {
	offer := walls.Probe()
	var r cli.Rows
	missing := false
	for _, g := range offer.Parts {
		if g.Missing != "" {
			missing = true
			r.Field(string(g.Part), "no: "+g.Missing, "")
			continue
		}
		r.Field(string(g.Part), g.About, "by "+g.By)
	}
	if err := env.Printer(asJSON).Document(offer, r.List); err != nil {
		return err
	}
	if missing {
		return cli.Exit(walls.ExitUnfit)
	}
	return nil
}

// gitSSHCommand returns the command that replaces ssh for confined git.
func gitSSHCommand(env cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:                walls.SSH,
		Short:              "Be ssh for git that runs confined",
		Hidden:             true,
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			code := walls.RunSSH(c.Context(), args, env.Environ, env.In, env.Stdout(), env.Err)
			if code != 0 {
				return cli.Exit(code)
			}
			return nil
		},
	}
}
