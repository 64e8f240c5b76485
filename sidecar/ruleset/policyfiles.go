package ruleset

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/programs"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// execFile is exec.yaml.
type execFile struct {
	rulefile.Head
	Profile string          `rule:"profile" one:"strict developer permissive audit-only" doc:"What happens if no rule decides. strict denies, developer asks, permissive allows. audit-only enforces nothing, and notes what developer would have done. If left out, it is developer. In a locked folder it is permissive, so that the folder only adds its rules."`
	Asks    string          `rule:"asks" one:"gateway sidecar" doc:"Who asks a person when a rule says ask. gateway is the default: the call leaves with the argument ask: always, if its tool has that argument, and the gateway must be set up to ask. sidecar holds the call until a person allows it here, see approvals --help. Calls of tools without that argument are always asked about here." eg:"sidecar"`
	Confine string          `rule:"confine" one:"always when_possible never" doc:"Whether commands run confined by the kernel, see confine --help. when_possible is the default: if the machine can do it and serve knows that the gateway runs here. always denies what cannot run confined. never confines nothing. In a locked folder, never means that its own rules judge as if nothing was confined." eg:"always"`
	Within  confinedRule    `rule:"confined" doc:"What commands that run confined have beside the folders of paths.yaml: tools of the home folder, caches, variables."`
	Zone    string          `rule:"zone" doc:"The time zone of now. If left out, it is UTC." eg:"Europe/Berlin"`
	Lists   rulefile.Lists  `rule:"lists" doc:"Lists of words. Conditions use each by its name." eg:"{disk_tools: [mkfs, wipefs]}"`
	Allowed []rulefile.Text `rule:"allowed_commands" doc:"Commands that may run: a program, with its subcommand, options or operands. policy profile shows the rule that each becomes. Every load tries each on its own text." eg:"['git status', make]"`
	Blocked []rulefile.Text `rule:"blocked_commands" doc:"Commands that may not run: a program with options and operands. Options count in any order and spelling, operands as they resolve. Every load tries each on its own text." eg:"['rm -rf /', shutdown]"`
	Granted []grantedRule   `rule:"granted" doc:"What a person has allowed for good. A call leaves without a question if each reason to ask about it is listed here. approvals show prints the items. Those of a locked folder hold for its own rules only."`
	Rules   []policyRule    `rule:"rules" doc:"Each rule allows, audits, asks or denies some calls or commands. The strictest rule wins, wherever it stands."`
}

// grantedRule is a reason to ask that is allowed for good.
type grantedRule struct {
	Rule   rulefile.Text `rule:"rule,required" doc:"The id of the rule that asks, in any file of the folder, or default." eg:"inline-code"`
	Covers string        `rule:"covers,required" doc:"Which calls, in the words of approvals show." eg:"'exec: python3 -c with any code, in /srv/shop'"`
}

// pathsFile is paths.yaml.
type pathsFile struct {
	rulefile.Head
	Roots     rootsRule      `rule:"roots" doc:"The folders of the agent. ~ is the home folder, and ${NAME} an environment variable. ${NAME:-this} is this if the variable is not set."`
	Arguments pathArguments  `rule:"arguments" doc:"Which arguments of tools are paths, at any depth. a.b is b only where it stands in a."`
	Lists     rulefile.Lists `rule:"lists" doc:"Lists of words. Conditions use each by its name." eg:"{vendored: [vendor, node_modules]}"`
	Rules     []policyRule   `rule:"rules" doc:"Each rule allows, audits, asks or denies some paths. The strictest rule wins, wherever it stands."`
}

// rootsRule are the folders of an agent. What the locked folder omits is as in paths.yaml.
type rootsRule struct {
	Home      *rulefile.Text   `rule:"home" doc:"The home folder of the user that the agent runs as." eg:"'~'"`
	Workspace *rulefile.Text   `rule:"workspace" doc:"The folder where relative paths start. The agent may read and write it. If it is only what stands behind :- in ${NAME:-this}, what the gateway says outranks it." eg:"~/.openclaw/workspace"`
	Write     *[]rulefile.Text `rule:"write" doc:"Other folders that may be read and written." eg:"[/tmp]"`
	Read      *[]rulefile.Text `rule:"read" doc:"Other folders that may be read." eg:"[/usr]"`
	ReadFiles *[]rulefile.Text `rule:"read_files" doc:"Single files that may be read." eg:"[/etc/os-release]"`
	Look      *[]rulefile.Text `rule:"look" doc:"Folders that may be read, too, by commands and tools alike, except where private things are: secrets, other homes, hidden folders of a home, files of the guard. The profile strict leaves them out." eg:"['~', /etc]"`
	Learn     *[]rulefile.Text `rule:"learn" doc:"How the gateway says, in its own system message, where an agent works: a line, or several, with {workspace} in place of the folder, and {folder} for others that may be written. The first that is found counts. A workspace that is set outranks it." eg:"['Working directory: {workspace}']"`
	Own       *[]rulefile.Text `rule:"own" doc:"Files and folders of the guard itself. They are of class control." eg:"[/etc/gpt-oss-executor]"`
	Secret    *[]rulefile.Text `rule:"secret" doc:"Files and folders that hold secrets, beside those that are known by their names. They are of class secret, also in the workspace, and no confined command has them." eg:"[~/vault, /srv/keys]"`
}

// pathArguments lists arguments that are paths, by tool, and what happens to them.
type pathArguments struct {
	Read    map[string][]string `rule:"read" doc:"By tool: arguments that are read." eg:"{read: [path]}"`
	Write   map[string][]string `rule:"write" doc:"By tool: arguments that are written." eg:"{write: [path]}"`
	Delete  map[string][]string `rule:"delete" doc:"By tool: arguments that are deleted." eg:"{trash: [path]}"`
	Patch   map[string][]string `rule:"patch" doc:"By tool: arguments whose text names the files that it changes." eg:"{apply_patch: [input]}"`
	Message map[string][]string `rule:"message" doc:"By tool: texts in which MEDIA:path names a file to be sent along." eg:"{message: [message]}"`
	Glob    map[string][]string `rule:"glob" doc:"By tool: arguments that are patterns for files, such as src/**/*.go. They are read." eg:"{glob: [pattern]}"`
	Text    map[string][]string `rule:"text" doc:"By tool: arguments that are only text, whatever they look like. A locked folder takes this from the program alone." eg:"{post_card: [footer]}"`
	Other   []string            `rule:"other" doc:"Arguments that are paths in any tool that lists them nowhere else. A name also counts as the last word of a longer one: path of output_path. Tools of class read read them, all others write them." eg:"[path, file_path]"`
}

// urlsFile is urls.yaml.
type urlsFile struct {
	rulefile.Head
	Localhost  []int            `rule:"localhost" min:"0" max:"65535" doc:"Ports of this machine that agents may use, beside those that their own commands have opened. 0 is all of them. The addresses of the guard and of the gateway stay denied." eg:"[3000, 8080]"`
	Own        []rulefile.Text  `rule:"own" doc:"HOST:PORT, or HOST:FIRST-LAST, of the gateway and of other servers that agents must not reach. A running server adds its own, and the model servers." eg:"['127.0.0.1:18789']"`
	KnownHosts *[]rulefile.Text `rule:"known_hosts" doc:"Hosts that a confined command may use, beside those that it names: a host, *.HOST for all below one, or HOST:PORT. Without a port they are known at 80 and 443. In a locked folder: the only ones that may be known." eg:"[github.com, '*.npmjs.org', 'git.example.com:8443']"`
	Arguments  urlArguments     `rule:"arguments" doc:"Which arguments of tools are URLs."`
	Lists      rulefile.Lists   `rule:"lists" doc:"Lists of words. Conditions use each by its name." eg:"{mirrors: [proxy.golang.org]}"`
	Rules      []policyRule     `rule:"rules" doc:"Each rule allows, audits, asks or denies some URLs. The strictest rule wins, wherever it stands."`
}

type urlArguments struct {
	Fetch map[string][]string `rule:"fetch" doc:"By tool: arguments that are fetched." eg:"{web_fetch: [url]}"`
	Other []string            `rule:"other" doc:"Arguments that are URLs in any tool that lists them nowhere else, also as the last word of a longer name: url of image_url." eg:"[url]"`
}

// confinedRule is what every confined command has.
type confinedRule struct {
	Read        []rulefile.Text                `rule:"read" doc:"Further files and folders that it may read and run, such as compilers in the home folder. What does not exist is left out. A locked folder leaves of them what it lists, too." eg:"[~/.cargo/bin]"`
	Write       []rulefile.Text                `rule:"write" doc:"Further folders that it may change, such as caches of its own. They are made if they do not exist. A locked folder leaves of them what it lists, too." eg:"[~/.cache/gpt-oss-executor]"`
	Secrets     []rulefile.Text                `rule:"secrets" doc:"Names of secrets in the workspace that its own code may read when a command runs it, as npm run dev does, and brings no code of its own. A pattern such as .env.* stands for one name, a/b for a name in a folder. All other secrets there are hidden from every command. A locked folder leaves of them what it lists, too." eg:"[.env, '.env.*']"`
	Environment []rulefile.Pair[rulefile.Text] `rule:"environment" doc:"Variables that are set for it. ~/ in front is the home folder. Those of a locked folder win." eg:"{GOCACHE: ~/.cache/gpt-oss-executor/go-build}"`
	Outside     []rulefile.Text                `rule:"outside" doc:"Programs, some with a subcommand, that need what no confined command has. If the rules let a command of nothing but these leave without confinement, everything in it is understood, and it names no file, it runs unconfined in an empty folder. A locked folder leaves of them what it lists, too." eg:"[docker ps, systemctl status]"`
	Remotes     []rulefile.Text                `rule:"remotes" doc:"Commands of git that may reach the remotes of the workspace with the keys and credentials of the user, which a transport outside uses for them. A locked folder leaves of them what it lists, too." eg:"[git fetch, git pull]"`
	Hidden      []rulefile.Text                `rule:"hidden" doc:"Variables that it does not get; * is any text. Those of a locked folder are added." eg:"['*_TOKEN', 'AWS_*']"`
}

// policyRule has exactly one of Allow, Audit, Unsure, Ask and Deny: the effect is the key.
type policyRule struct {
	At      rulefile.Place
	ID      rulefile.Text   `rule:"id,required" doc:"The rule's name in logs and refusals." eg:"disk-tools"`
	About   string          `rule:"about" doc:"Why the rule exists. Operators read it."`
	Allow   *rulefile.Text  `rule:"allow" doc:"The call may leave even if the profile would say no. The text says why." eg:"harmless"`
	Audit   *rulefile.Text  `rule:"audit" doc:"A dry run of deny. The call leaves, and the log says with this text that it should not have." eg:"Writing to a disk destroys what is on it."`
	Ask     *rulefile.Text  `rule:"ask" doc:"The call may leave if a person says so. The person and the model are told this text. {workspace} in it is the folder where the agent works." eg:"This publishes something."`
	Unsure  *rulefile.Text  `rule:"unsure" doc:"As ask, but the profile permissive lets the call leave, and notes it." eg:"No rule has checked this code."`
	Deny    *rulefile.Text  `rule:"deny" doc:"The call does not leave. The model is told this text." eg:"This deletes a whole home folder. Name the files that are meant."`
	Instead string          `rule:"instead" doc:"The model is told that it may do this instead." eg:"Delete inside the workspace."`
	Shadow  bool            `rule:"shadow" doc:"true makes the rule a dry run: it is noted, and not enforced."`
	When    *rulefile.Text  `rule:"when" doc:"The condition under which the rule holds. If left out, it always holds. If the condition fails, a rule that denies or asks denies, and one that allows does not allow." eg:"\"'disk' in cmd.tags\""`
	Hit     []rulefile.Text `rule:"hit" doc:"Shell scripts for which the rule must hold. Every load tries them." eg:"[mkfs.ext4 /dev/sda1]"`
	Miss    []rulefile.Text `rule:"miss" doc:"Shell scripts for which the rule must not hold. Every load tries them." eg:"[ls -l]"`
}

// defaults are the effects of profiles for what no rule allows.
var defaults = map[string]policy.Effect{
	"strict": policy.Deny, "developer": policy.Ask, "permissive": policy.Allow, auditOnly: policy.Ask,
}

// auditOnly is the profile that enforces nothing.
const auditOnly = "audit-only"

// isPrograms reports whether a file of any layer holds rows of programs.
func isPrograms(name string) bool { return path.Base(path.Dir(name)) == rulefile.ProgramFolder }

// programs makes the table: the operator's rows over the program's own. Under a locked folder, its rows and
// the program's own are floors: the operator cannot remove effects.
func (l *loader) programs() {
	var own, base, shipped, locked []string
	read := rulefile.Files{}
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		if !isPrograms(name) {
			continue
		}
		read[name] = l.files[name]
		plain, isBuiltin := strings.CutPrefix(name, rulefile.BuiltinFolder+"/")
		text, replaced := l.files[plain]
		switch {
		case isBuiltin:
			if shipped = append(shipped, name); !replaced || rulesOf(text) == rulesOf(l.files[name]) {
				base = append(base, name)
			}
		case l.files.Has(rulefile.BuiltinFolder+"/"+name) &&
			rulesOf(l.files[name]) == rulesOf(l.files[rulefile.BuiltinFolder+"/"+name]): // unchanged
		case strings.HasPrefix(name, rulefile.PolicyFolder+"/"):
			locked = append(locked, name)
		default:
			own = append(own, name)
		}
	}
	l.rowsSum = read.Version()
	var floors []*program.Table
	if l.files.Locked() {
		floors = []*program.Table{programs.Shipped(l.files, shipped).Table()}
	}
	if len(locked) > 0 {
		rows, examples := l.rows(locked)
		floors = append(floors, rows.Table())
		l.programExamples(examples, &l.locked.examples)
	}
	rows, examples := l.rows(own)
	l.programExamples(examples, &l.examples)
	l.set.Programs = rows.Over(programs.Shipped(l.files, base)).Table(floors...)
}

// rulesOf returns a file without its first line, which names a schema by a path that depends on the folder.
func rulesOf(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}

// rows returns the rows of files that people write.
func (l *loader) rows(files []string) (programs.Rows, []programs.Example) {
	l.set.Counts.Files += len(files)
	if l.trusted {
		return programs.Shipped(l.files, files), nil
	}
	rows, examples, problems := programs.Read(l.files, files)
	l.problems = append(l.problems, problems...)
	return rows, examples
}

func (l *loader) programExamples(examples []programs.Example, to *[]func()) {
	for _, e := range examples {
		*to = append(*to, func() {
			if wrong := e.Wrong(l.set.Programs); wrong != "" {
				l.report(e.Command.All(), codeExample, wrong,
					"see what it does: gpt-oss-executor policy program "+strconv.Quote(e.Command.Value))
			}
		})
	}
}
