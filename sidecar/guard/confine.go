package guard

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Permit is what one command may do when it runs confined.
type Permit struct {
	Command string
	Who     policy.Subject
	Rules   string      // their version
	Roots   paths.Roots // of the agent
	// what it names outside of the roots, perhaps by a pattern: files to read, folders to list
	Reads   []string
	Trees   []string // folders there that it reads with all below, which was looked through
	Deletes []string // what it deletes or moves away
	Hosts   []string // that it names, with a port that is not 80 or 443
	Ports   []int    // of this machine, that agents may use whatever listens there
	// Understood says that everything in the command is understood. Then it may be led on to
	// other public hosts. Code that the guard has not read may not.
	Understood bool
	// Settings says that git may change its settings: nothing runs beside it that could bring others.
	Settings bool
	// Remotes are where git may fetch from, and push to, as the user.
	Remotes []Remote
	// Outside says that it runs outside of the walls: it needs what is there, and touches no file.
	Outside bool
	// Project says that it runs code of the workspace, and brings none of its own: npm run dev,
	// and not node -e.
	Project bool
}

// Confiner makes commands run confined where the gateway runs them.
type Confiner interface {
	// Permit notes what a command may do, and gives what runs it so.
	Permit(set *ruleset.Set, p Permit) (policy.Wrapper, error)
	// Remotes are those that the settings of git in the workspace name; nil: none, or a confined command
	// can have written them.
	Remotes(roots paths.Roots) []Remote
}

// confineRepair marks a call that leaves confined.
const confineRepair = "policy.confine"

// outsideRepair marks a call that leaves in the wrapper, to run in an empty folder outside of the walls.
const outsideRepair = "policy.outside"

func isConfined(r tools.Repair) bool { return r.Kind == confineRepair }

func isWrapped(r tools.Repair) bool { return isConfined(r) || r.Kind == outsideRepair }

// confiner makes commands run confined where the call runs; nil: nothing does.
func (j *judge) confiner() Confiner {
	if j.hooked != nil { // the hook says yes or no, and wraps nothing
		return nil
	}
	switch a := j.set.Agent; {
	case j.here:
		return j.Runs
	case a != nil && a.Commands == ruleset.Elsewhere, j.Clients != nil &&
		!slices.Contains(j.Clients, j.who.Client):
		return nil
	}
	return j.Confiner
}

// confines reports whether a call can run confined.
func (j *judge) confines(looked *ruleset.Case) bool {
	return j.confiner() != nil && j.set.Confine() != ruleset.Never && j.set.Enforces() &&
		(j.here || j.wrapped.Here(asker(j.who), j.Now())) && looked.Confinable()
}

// decideConfined decides about a call that can run confined, by what was decided about it as
// it is. What may leave anyway runs so, too; and what may leave only because the kernel holds
// it. The rest is as if nothing confined it: if a person allows it, it runs as they have read it.
func (j *judge) decideConfined(looked *ruleset.Case,
	plain policy.Decision) (d policy.Decision, runs, understood bool) {
	if leaves(plain) {
		return plain, true, true
	}
	if d = looked.Decide(true); leaves(d) {
		return d, true, false
	}
	return plain, false, false
}

func leaves(d policy.Decision) bool { return d.Effect == policy.Allow || d.Effect == policy.Audit }

// outside reports whether a command that may leave needs what no confined command has, and is
// nothing but that. It names no file and no variable, so that nothing of the workspace decides what it
// does there, and no variable that is hidden inside is printed or sent. One program in it that the kernel
// could hold keeps all of it inside, since reading may have missed what that one runs.
func (j *judge) outside(f *policy.Facts) bool {
	needs := j.set.Confined("").Outside
	needed := func(c shell.Command) bool { return slices.ContainsFunc(needs, c.Is) }
	// the folder is empty there
	file := func(use paths.Use) bool { return use.Class != paths.Null && use.Path != "." }
	inside := func(c shell.Command) bool {
		return len(c.Env)+len(c.ExecFlags) > 0 ||
			slices.ContainsFunc(slices.Concat(c.Reads, c.Writes, c.Deletes), file) ||
			!slices.Contains([]string{"", paths.System, paths.Readable}, c.PathClass) ||
			!j.set.Programs.Is(c.Binary, "prints") && !needed(c)
	}
	return f.Call.Args["env"] == nil && understands(f.Script) && len(f.Script.Variables) == 0 &&
		!slices.ContainsFunc(f.Script.Commands, inside) && slices.ContainsFunc(f.Script.Commands, needed)
}

// understands reports whether a script shows all that it does: it runs no code, and no unknown program.
func understands(s *shell.Script) bool {
	return len(s.Dynamic) == 0 && !slices.ContainsFunc(s.Commands, func(c shell.Command) bool {
		return !c.Known && c.Binary != "" || c.Inline || c.CodeFile != "" ||
			slices.Contains(c.Tags, "workspace-code")
	})
}

// gitAlone reports whether a script runs nothing but git, and programs that bring no settings of it. The
// rules have judged which settings git changes.
func (j *judge) gitAlone(s *shell.Script) bool {
	other := func(c shell.Command) bool {
		if c.Binary == "git" {
			return len(c.ExecFlags)+len(c.Env)+len(c.Wrappers) > 0 || slices.Contains(c.Tags, "opaque-exec")
		}
		return !j.set.Programs.Is(c.Binary, "prints") && !j.set.Programs.Is(c.Binary, "writes-named")
	}
	return understands(s) && !slices.ContainsFunc(s.Commands, other)
}

// remotes are where git of a script may fetch from, and push to. A folder is given only if no rule denies it.
func (j *judge) remotes(s *shell.Script) (out []Remote) {
	uses := j.set.Confined("").Remotes
	may := func(c shell.Command) bool { return c.Binary == "git" && slices.ContainsFunc(uses, c.Is) }
	if !understands(s) || !slices.ContainsFunc(s.Commands, may) {
		return nil
	}
	push := slices.ContainsFunc(s.Commands,
		func(c shell.Command) bool { return c.Binary == "git" && c.Sub == "push" })
	for _, r := range j.confiner().Remotes(j.world.Roots(j.set)) {
		op := paths.Read
		if r.Push = push; push {
			op = paths.Write
		}
		if r.URL.Scheme == "file" && j.set.CheckPath(op, r.URL.Path, j.who,
			j.world.at(j.moment())).Effect == policy.Deny {
			continue
		}
		out = append(out, r)
	}
	return out
}

// cannotConfine is why a command does not leave if all must run confined.
const cannotConfine = "Commands run here only where the kernel confines them, and this one cannot be confined. Send one plain command, without other settings."

// runsShell reports whether a call runs a command.
func runsShell(f *policy.Facts) bool { return f != nil && f.Script != nil && f.Call.Tool != "process" }

// confineAlways wraps the command of a call that a person has allowed.
func (j *judge) confineAlways(call *tools.Call, m Moment) (why string) {
	looked := j.world.look(j.set, *call, j.who, m) // with what the person was asked
	if !j.confines(looked) {
		return cannotConfine
	}
	return j.confine(call, looked, false)
}

// confine wraps the command of a call. It says why the call may not leave, or nothing.
func (j *judge) confine(call *tools.Call, looked *ruleset.Case, understood bool) (why string) {
	p := j.permit(looked.Facts(), understood)
	w, err := j.confiner().Permit(j.set, p)
	if err == nil {
		call.Arguments, err = policy.Wrapped(call.Name, call.Arguments, w)
	}
	if err != nil {
		j.log().Error("a call is refused, because it cannot be confined", "event", "confine_failed",
			"tool", call.Name, "detail", err.Error())
		return "This command cannot be run now, because what it may do cannot be noted. Tell the user."
	}
	kind := confineRepair
	if p.Outside {
		kind = outsideRepair
	}
	call.Repairs = append(call.Repairs, tools.Repair{Kind: kind, To: w.Ticket})
	return ""
}

// permit is what a command may do, by what is known of it. Whatever it names has been judged.
func (j *judge) permit(f *policy.Facts, understood bool) Permit {
	p := Permit{Command: f.Call.Command, Who: j.who, Rules: j.set.Version, Roots: j.world.Roots(j.set),
		Ports:      j.set.Ports(j.world.around()),
		Understood: understood && understands(f.Script), Project: project(f.Script)}
	p.Settings, p.Remotes = j.gitAlone(f.Script), j.remotes(f.Script)
	p.Outside = p.Understood && j.set.Confine() != ruleset.Always && j.outside(f)
	for i := range f.Script.Commands {
		cmd := &f.Script.Commands[i]
		for _, use := range cmd.Reads {
			switch {
			case use.Class == paths.Around && cmd.Recursive && len(use.Marks) == 0:
				p.Trees = append(p.Trees, use.Resolved)
			case use.Glob && len(use.Marks) > 0: // names were judged, such as those that ls prints
			case slices.Contains([]string{paths.Around, paths.Home, paths.Protected, paths.Outside},
				use.Class):
				p.Reads = append(p.Reads, use.Resolved)
			}
		}
		for _, use := range cmd.Deletes {
			p.Deletes = append(p.Deletes, use.Resolved)
		}
		for _, use := range cmd.URLs {
			if use.Class == urls.Public {
				p.Hosts = append(p.Hosts, urls.PatternOf(use).String())
			}
		}
	}
	for _, list := range []*[]string{&p.Reads, &p.Trees, &p.Deletes, &p.Hosts} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return p
}

// project reports whether a script runs code of the workspace, and brings none of its own.
func project(s *shell.Script) bool {
	own := func(c shell.Command) bool { return c.Inline || slices.Contains(c.Tags, "runs-created-file") }
	return !slices.ContainsFunc(s.Commands, own) && slices.ContainsFunc(s.Commands,
		func(c shell.Command) bool {
			return c.CodeFile != "" || c.PathClass == paths.Workspace ||
				slices.Contains(c.Tags, "workspace-code")
		})
}

// fate tells the model what the result of a call does not say: that the kernel has held the
// command, or that it did not run at all.
func (g *Guard) fate(id, text string) (note string) {
	by, fate := g.wrapped.Result(id, text, g.Now())
	switch fate {
	case state.NotRun:
		client, agent, channel := apart(by)
		g.Metrics.Faults.WithLabelValues("", "", "not_confined", "guard").Inc()
		g.Log.Error("the gateway runs commands where they cannot be confined, such as in a sandbox of its own or on another machine; "+
			"for a day, the rules for commands that are not confined hold for this agent. If that is meant, start serve with --confine off",
			"event", "gateway_elsewhere", "client", client, "agent", agent, "channel", channel, "call", id)
		return "The command was not run. Nothing is wrong with it: send the same call again."
	case state.Held:
		return "This command ran confined: it can change files only in the workspace and in folders for temporary files, read no secrets, " +
			"and reach other hosts only through the proxy of its environment. If it failed for that reason, do without, or ask the user to do it."
	}
	return ""
}
