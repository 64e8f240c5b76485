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

// Permit is what one confined command may do.
type Permit struct {
	Command string
	Who     policy.Subject
	Rules   string      // version
	Roots   paths.Roots // of the agent
	// Reads are paths and patterns that it names outside of the roots: files to read, folders to list.
	Reads   []string
	Trees   []string // folders outside that it reads recursively, which were searched
	Deletes []string // what it deletes or moves
	Hosts   []string // hosts that it names, with a port that is not 80 or 443
	Ports   []int    // ports of this machine that agents may use, whatever listens there
	// Understood means that everything in the command is understood. Then redirects may lead it to
	// other public hosts. Code that the guard has not read has no such right.
	Understood bool
	// Settings means that git may change its settings: nothing runs with it that could bring others.
	Settings bool
	// Remotes are where git may fetch and push as the user.
	Remotes []Remote
	// Outside means that it runs unconfined: it needs what is outside and touches no file.
	Outside bool
	// Project means that it runs code of the workspace and brings none: npm run dev, but not node -e.
	Project bool
}

// Confiner confines commands where the gateway runs them.
type Confiner interface {
	// Permit notes what a command may do and returns its wrapper.
	Permit(set *ruleset.Set, p Permit) (policy.Wrapper, error)
	// Remotes returns the remotes in the git settings of the workspace; nil if there are none, or if a
	// confined command can have written them.
	Remotes(roots paths.Roots) []Remote
}

// confineRepair marks a call that runs confined.
const confineRepair = "policy.confine"

// outsideRepair marks a wrapped call that runs unconfined in an empty folder.
const outsideRepair = "policy.outside"

func isConfined(r tools.Repair) bool { return r.Kind == confineRepair }

func isWrapped(r tools.Repair) bool { return isConfined(r) || r.Kind == outsideRepair }

// confiner returns what confines commands where the call runs; nil: nothing does.
func (j *judge) confiner() Confiner {
	if j.hook != nil { // the hook says yes or no, and wraps nothing
		return nil
	}
	switch a := j.set.Agent; {
	case j.local:
		return j.Runs
	case a != nil && a.Commands == ruleset.Elsewhere, j.Clients != nil &&
		!slices.Contains(j.Clients, j.who.Client):
		return nil
	}
	return j.Confiner
}

// canConfine reports whether a call can run confined.
func (j *judge) canConfine(looked *ruleset.Case) bool {
	return j.confiner() != nil && j.set.Confine() != ruleset.Never && j.set.Enforces() &&
		(j.local || j.wrapped.CanConfine(asker(j.who), j.Now())) && looked.Confinable()
}

// decideConfined decides a call that can run confined; plain is the decision without that. What may
// leave anyway also runs confined, and so does what may leave only because the kernel confines it. The
// rest keeps the plain decision: if a person allows it, it runs as they have read it.
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

// runsOutside reports whether a command needs what no confined command has, and does nothing else. It
// names no file and no variable: nothing of the workspace decides what it does, and no variable that
// is hidden from confined commands is printed or sent. One program that the kernel could confine keeps
// the whole command confined, since reading may have missed what that one runs.
func (j *judge) runsOutside(f *policy.Facts) bool {
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
	return f.Call.Args["env"] == nil && isUnderstood(f.Script) && len(f.Script.Variables) == 0 &&
		!slices.ContainsFunc(f.Script.Commands, inside) && slices.ContainsFunc(f.Script.Commands, needed)
}

// isUnderstood reports whether a script shows all that it does: it runs no code and no unknown
// program.
func isUnderstood(s *shell.Script) bool {
	return len(s.Dynamic) == 0 && !slices.ContainsFunc(s.Commands, func(c shell.Command) bool {
		return !c.Known && c.Binary != "" || c.Inline || c.CodeFile != "" ||
			slices.Contains(c.Tags, "workspace-code")
	})
}

// runsOnlyGit reports whether a script runs only git, and programs that bring no settings. The rules
// have judged which settings git changes.
func (j *judge) runsOnlyGit(s *shell.Script) bool {
	other := func(c shell.Command) bool {
		if c.Binary == "git" {
			return len(c.ExecFlags)+len(c.Env)+len(c.Wrappers) > 0 || slices.Contains(c.Tags, "opaque-exec")
		}
		return !j.set.Programs.Is(c.Binary, "prints") && !j.set.Programs.Is(c.Binary, "writes-named")
	}
	return isUnderstood(s) && !slices.ContainsFunc(s.Commands, other)
}

// remotes returns where git of a script may fetch and push. A folder is included only if no rule
// denies it.
func (j *judge) remotes(s *shell.Script) (out []Remote) {
	uses := j.set.Confined("").Remotes
	may := func(c shell.Command) bool { return c.Binary == "git" && slices.ContainsFunc(uses, c.Is) }
	if !isUnderstood(s) || !slices.ContainsFunc(s.Commands, may) {
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
	if !j.canConfine(looked) {
		return cannotConfine
	}
	return j.confine(call, looked, false)
}

// confine wraps the command of a call. It returns why the call may not leave, or "".
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

// permit returns what a command may do. Everything that it names was judged.
func (j *judge) permit(f *policy.Facts, understood bool) Permit {
	p := Permit{Command: f.Call.Command, Who: j.who, Rules: j.set.Version, Roots: j.world.Roots(j.set),
		Ports:      j.set.Ports(j.world.ruleWorld()),
		Understood: understood && isUnderstood(f.Script), Project: runsProject(f.Script)}
	p.Settings, p.Remotes = j.runsOnlyGit(f.Script), j.remotes(f.Script)
	p.Outside = p.Understood && j.set.Confine() != ruleset.Always && j.runsOutside(f)
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

// runsProject reports whether a script runs code of the workspace and brings none.
func runsProject(s *shell.Script) bool {
	own := func(c shell.Command) bool { return c.Inline || slices.Contains(c.Tags, "runs-created-file") }
	return !slices.ContainsFunc(s.Commands, own) && slices.ContainsFunc(s.Commands,
		func(c shell.Command) bool {
			return c.CodeFile != "" || c.PathClass == paths.Workspace ||
				slices.Contains(c.Tags, "workspace-code")
		})
}

// confinementNote tells the model what the result of a call does not say: that the kernel refused
// something, or that the command did not run.
func (g *Guard) confinementNote(id, text string) (note string) {
	by, fate := g.wrapped.Result(id, text, g.Now())
	switch fate {
	case state.NotRun:
		client, agent, channel := splitAsker(by)
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
