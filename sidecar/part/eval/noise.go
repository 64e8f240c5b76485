package eval

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/noise"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func noiseCommand(env cli.Env) *cobra.Command {
	var d drawing
	c := &cobra.Command{
		Use: "noise",
	}
	cases := &cobra.Command{
		Use: "cases", Args: cli.Arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := d.check(c, env, nil); err != nil {
				return err
			}
			return Lines(env.Out, d.seed, d.count, d.options)
		},
	}
	d.flags(cases, 10)
	ops := &cobra.Command{
		Use: "ops", Args: cli.Arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			for _, op := range slices.Concat(noise.Operators(), noise.FrameOps()) {
				fmt.Fprintf(env.Out, "%-28s %s\n", op.ID, op.About)
			}
			for _, mix := range noise.Mixes() {
				fmt.Fprintf(env.Out, "%-28s %s\n", "--mix "+mix.ID, mix.About)
			}
			return nil
		},
	}
	c.AddCommand(cases, ops, noiseServeCommand(env), noiseJudgeCommand(env))
	return c
}

// Frames returns the frames in which a family of the rules writes calls, as far as the noise can write them.
func Frames(set *ruleset.Set, family string) (list []noise.Frame) {
	of := set.Family(family)
	if of == nil {
		return nil
	}
	for _, st := range set.Strategies(family).All() {
		if !st.Own || st.Kind != parse.Frames {
			continue
		}
		f := noise.Frame{Model: of.Model(), Open: st.Open[0], Call: st.Frame.Calls[0].String(),
			Argument: st.Frame.Argument.String(), Quote: st.Frame.Quote}
		if len(st.Close) > 0 {
			f.Close = st.Close[0]
		}
		if f.Writable() {
			list = append(list, f)
		}
	}
	return list
}

// drawing holds the flags that select cases.
type drawing struct {
	family  string
	seed    uint64
	count   int
	options noise.Options
}

func (d *drawing) flags(c *cobra.Command, count int) {
	c.Flags().Uint64Var(&d.seed, "seed", 1, "`SEED` of the first case; the next one has the next")
	c.Flags().IntVar(&d.count, "count", count, "the `NUMBER` of cases")
	familyFlag(c, &d.family)
	c.Flags().StringVar(&d.options.Mix, "mix", "",
		"damages as a `MODEL` has them, in place of a chain: gpt-5")
	c.Flags().IntVar(&d.options.Chain, "chain", 1,
		"`NUMBER` of damages in a case: 0 to 4, or -1 for any of these")
	c.Flags().StringSliceVar(&d.options.Only, "op", nil,
		"draw only from these `KINDS` of damage (noise ops lists them)")
	c.Flags().StringSliceVar(&d.options.Without, "without", nil, "leave these `KINDS` of damage out")
	asks := " url model key-file stream by timeout fail-under" // of noise judge
	if c.Name() == "cases" {
		asks = ""
	}
	cli.Modes(c, "family: arguments chain op without seed count"+asks, "mix: negatives seed count"+asks,
		": negatives chain op without seed count"+asks)
	c.Flags().BoolVar(&d.options.Arguments, "arguments", false, "with --family: also a damage of arguments in each case")
	c.Flags().BoolVar(&d.options.Negatives, "negatives", false,
		"replies that hold no call: they quote, explain or refuse one")
}

func familyFlag(c *cobra.Command, family *string) {
	c.Flags().StringVar(family, "family", "", "calls as the models of `FAMILY` write them, with damages of their frames")
}

// framesOf returns the frames of a family of the built-in rules; none without a name.
func framesOf(c *cobra.Command, env cli.Env, family string) ([]noise.Frame, error) {
	if family == "" {
		return nil, nil
	}
	set, err := cli.LoadRules("", "", env)
	if err != nil {
		return nil, err
	}
	list := Frames(set, family)
	if len(list) == 0 {
		err = cli.Misused(c, fmt.Errorf("--family %s: rules/families has no file of that name with frames", family))
	}
	return list, err
}

// check returns a mistake in the flags, or more, which is about other flags.
func (d *drawing) check(c *cobra.Command, env cli.Env, more error) (err error) {
	if d.options.Frames, err = framesOf(c, env, d.family); err != nil {
		return err
	}
	err = errors.Join(more, d.options.Check())
	if d.count < 0 {
		err = errors.New("--count is below 0")
	}
	if err != nil {
		return cli.Misused(c, err)
	}
	return nil
}

func noiseServeCommand(env cli.Env) *cobra.Command {
	listen, family := "", ""
	c := &cobra.Command{
		Use: "serve", Args: cli.Arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			frames, err := framesOf(c, env, family)
			if err != nil {
				return err
			}
			ctx, stop := cli.UntilStopped(c)
			defer stop()
			on, err := net.Listen("tcp", listen)
			if err != nil {
				return fmt.Errorf("listen: %w", err)
			}
			fmt.Fprintf(env.Out, "model %s at http://%s/v1\n", modelOf(frames), on.Addr())
			server := &http.Server{Handler: Server(frames), ReadHeaderTimeout: 10 * time.Second}
			go func() { <-ctx.Done(); server.Close() }()
			if err := server.Serve(on); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		},
	}
	familyFlag(c, &family)
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:9100", "`ADDRESS` to listen at")
	return c
}

func noiseJudgeCommand(env cli.Env) *cobra.Command {
	var d drawing
	var target Target
	var keyFile string
	var by []string
	under := 0.0
	c := &cobra.Command{
		Use: "judge", Args: cli.Arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := d.check(c, env, target.Check(by)); err != nil {
				return err
			}
			if keyFile != "" {
				key, err := os.ReadFile(keyFile)
				if err != nil {
					return fmt.Errorf("read key: %w", err)
				}
				target.Key = strings.TrimSpace(string(key))
			}
			found, err := target.Run(c.Context(), d.seed, d.count, d.options)
			if err != nil {
				return err
			}
			if err := found.Write(env.Out, by); err != nil {
				return err
			}
			if all := found.Table["all"]; all != nil && 100*all.Worth() < under ||
				found.Unread() == d.count && d.count > 0 {
				return cli.ErrReported
			}
			return nil
		},
	}
	d.flags(c, 1000)
	c.Flags().StringVar(&target.URL, "url", "http://127.0.0.1:9100/v1", "base `URL` of what is judged")
	c.Flags().StringVar(&target.Model, "model", "gpt-oss", "`ID` of the model that is asked for")
	c.Flags().StringVar(&keyFile, "key-file", "", "`FILE` with the key that is sent")
	c.Flags().BoolVar(&target.Stream, "stream", false, "ask for streams")
	c.Flags().StringSliceVar(&by, "by", nil, "more `ROWS`: "+strings.Join(Rows(), ", "))
	c.Flags().DurationVar(&target.Timeout, "timeout", 30*time.Second,
		"a reply that takes `LONGER` is not read")
	c.Flags().Float64Var(&under, "fail-under", 0,
		"exit with 1 if less than this `PERCENT` of the calls is recovered; with --negatives, of the replies is read well")
	return c
}
