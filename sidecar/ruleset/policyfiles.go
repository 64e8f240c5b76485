package ruleset

import (
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// execFile is exec.yaml.
type execFile struct {
	Version int                              `rule:"version,required" one:"1" doc:"The version of the format of this file."`
	Profile string                           `rule:"profile" one:"strict developer permissive audit-only" doc:"What happens to what no rule is about: it is denied (strict), asked (developer), allowed (permissive). audit-only enforces nothing and notes what developer would have done. Left out: developer; in a locked folder permissive, so that it only adds its rules."`
	Asks    string                           `rule:"asks" one:"gateway sidecar" doc:"Who asks a person where a rule says ask. gateway, which is the default: a call whose tool has an argument ask leaves with ask: always; the gateway must be set up to ask. sidecar: no such call leaves before somebody has allowed it here, see approvals --help. Calls of other tools are always asked about here." eg:"sidecar"`
	Zone    string                           `rule:"zone" doc:"The time zone of now, UTC where it is left out." eg:"Europe/Berlin"`
	Lists   []rulefile.Pair[[]rulefile.Text] `rule:"lists" doc:"Lists of words that conditions see by their names." eg:"{disk_tools: [mkfs, wipefs]}"`
	Allowed []rulefile.Text                  `rule:"allowed_commands" doc:"Commands that may run: a program, its subcommand or options. policy explain shows what becomes of each." eg:"['git status', make]"`
	Blocked []rulefile.Text                  `rule:"blocked_commands" doc:"Commands that may not run: a program with its options in any order and spelling, and its operands once they are resolved." eg:"['rm -rf /', shutdown]"`
	Rules   []policyRule                     `rule:"rules" doc:"Each allows, audits, asks or denies some calls or commands. The strictest one wins, wherever it stands."`
}

// pathsFile is paths.yaml.
type pathsFile struct {
	Version   int                              `rule:"version,required" one:"1" doc:"The version of the format of this file."`
	Roots     rootsRule                        `rule:"roots" doc:"The folders of the agent. ~ is the home folder, ${NAME} an environment variable, ${NAME:-this} this where it is not set."`
	Arguments pathArguments                    `rule:"arguments" doc:"Which arguments of tools are paths."`
	Lists     []rulefile.Pair[[]rulefile.Text] `rule:"lists" doc:"Lists of words that conditions see by their names." eg:"{vendored: [vendor, node_modules]}"`
	Rules     []policyRule                     `rule:"rules" doc:"Each allows, audits, asks or denies some paths. The strictest one wins, wherever it stands."`
}

// rootsRule are the folders of an agent. What is left out of the locked folder is as
// in paths.yaml.
type rootsRule struct {
	Home      *rulefile.Text   `rule:"home" doc:"The home folder of the user the agent runs as." eg:"'~'"`
	Workspace *rulefile.Text   `rule:"workspace" doc:"Where relative paths start. It may be read and written." eg:"~/.openclaw/workspace"`
	Write     *[]rulefile.Text `rule:"write" doc:"Other folders that may be read and written." eg:"[/tmp]"`
	Read      *[]rulefile.Text `rule:"read" doc:"Other folders that may be read." eg:"[/usr]"`
	ReadFiles *[]rulefile.Text `rule:"read_files" doc:"Single files that may be read." eg:"[/etc/os-release]"`
	Own       *[]rulefile.Text `rule:"own" doc:"Files and folders of the guard itself, of class control." eg:"[/etc/gpt-oss-executor]"`
}

// pathArguments says by tool which arguments are paths, and what happens to them.
type pathArguments struct {
	Read   map[string][]string `rule:"read" doc:"By tool: arguments that are read." eg:"{read: [path]}"`
	Write  map[string][]string `rule:"write" doc:"By tool: arguments that are written." eg:"{write: [path]}"`
	Delete map[string][]string `rule:"delete" doc:"By tool: arguments that are deleted." eg:"{trash: [path]}"`
	Patch  map[string][]string `rule:"patch" doc:"By tool: texts that name the files they change." eg:"{apply_patch: [input]}"`
	Other  []string            `rule:"other" doc:"Arguments that are paths in all other tools: read by tools of class read, written by the rest." eg:"[path, file_path]"`
}

// urlsFile is urls.yaml.
type urlsFile struct {
	Version   int                              `rule:"version,required" one:"1" doc:"The version of the format of this file."`
	Arguments urlArguments                     `rule:"arguments" doc:"Which arguments of tools are URLs."`
	Lists     []rulefile.Pair[[]rulefile.Text] `rule:"lists" doc:"Lists of words that conditions see by their names." eg:"{mirrors: [proxy.golang.org]}"`
	Rules     []policyRule                     `rule:"rules" doc:"Each allows, audits, asks or denies some URLs. The strictest one wins, wherever it stands."`
}

type urlArguments struct {
	Fetch map[string][]string `rule:"fetch" doc:"By tool: arguments that are fetched." eg:"{web_fetch: [url]}"`
	Other []string            `rule:"other" doc:"Arguments that are URLs in all other tools." eg:"[url]"`
}

// policyRule has exactly one of Allow, Audit, Ask and Deny: the effect is the key.
type policyRule struct {
	At      rulefile.Place
	ID      rulefile.Text   `rule:"id,required" doc:"Its name in logs and refusals." eg:"disk-tools"`
	About   string          `rule:"about" doc:"Why it exists, for operators."`
	Allow   *rulefile.Text  `rule:"allow" doc:"It may be, where the profile would say no; the text says why." eg:"harmless"`
	Audit   *rulefile.Text  `rule:"audit" doc:"A dry run of deny: the call leaves, and the log says that it would not have, with this text." eg:"Writing to a disk destroys what is on it."`
	Ask     *rulefile.Text  `rule:"ask" doc:"It may be if a person says so; the text is what the person and the model are told." eg:"This publishes something."`
	Deny    *rulefile.Text  `rule:"deny" doc:"The call does not leave; the text is what the model is told." eg:"This deletes a whole home folder. Name the files that are meant."`
	Instead string          `rule:"instead" doc:"What the model may do instead." eg:"Delete inside the workspace."`
	Shadow  bool            `rule:"shadow" doc:"true makes it a dry run: noted, and not enforced."`
	When    *rulefile.Text  `rule:"when" doc:"A condition; left out: always. A rule that fails denies if it would deny or ask, and never allows." eg:"\"'disk' in cmd.tags\""`
	Hit     []rulefile.Text `rule:"hit" doc:"Shell scripts for which it holds, tried whenever the rules are loaded." eg:"[mkfs.ext4 /dev/sda1]"`
	Miss    []rulefile.Text `rule:"miss" doc:"Shell scripts for which it does not hold, tried whenever the rules are loaded." eg:"[ls -l]"`
}

// defaults is what a profile makes of what no rule allows.
var defaults = map[string]policy.Effect{
	"strict": policy.Deny, "developer": policy.Ask, "permissive": policy.Allow, auditOnly: policy.Ask,
}

// auditOnly is the profile that enforces nothing.
const auditOnly = "audit-only"
