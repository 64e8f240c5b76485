package ruleset

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

// TestRulesDecide: rules as people write them, a shell line, and what is decided by which.
func TestRulesDecide(t *testing.T) {
	const fails = `"cmd.argv[9] == 'x'"`
	for _, row := range []struct{ name, profile, rules, command, want string }{
		{"nothing", "strict", "", "a", "deny"},
		{"nothing", "developer", "", "a", "ask"},
		{"nothing", "permissive", "", "a", "allow"},
		{"nothing", "audit-only", "", "a", "audit, would ask"},
		{"a program", "permissive", "{id: r, deny: No., when: cmd.binary == 'a'}", "x && a", "deny r"},
		{"another program", "permissive", "{id: r, deny: No., when: cmd.binary == 'a'}", "x; b", "allow"},
		{"in a list by name", "permissive", "{id: r, deny: No., when: cmd.binary in words}", "b", "deny r"},
		{"in a list", "permissive", "{id: r, ask: Well., when: \"cmd.binary in ['a', 'b']\"}", "b", "ask r"},
		{"each program is allowed by itself", "strict", "{id: r, allow: Yes., when: cmd.binary == 'ls'}", "ls && a", "deny"},
		{"all programs are allowed", "strict", "{id: r, allow: Yes., when: \"cmd.binary in ['ls', 'pwd']\"}", "ls && pwd", "allow r"},
		{"a tag", "permissive", "{id: r, deny: No., when: \"'disk' in cmd.tags\"}", "mkfs.ext4 /dev/sda1", "deny r"},
		{"a path", "permissive", "{id: r, deny: No., when: \"any(cmd.deletes, .class == 'root')\"}", "rm -rf /", "deny r"},
		{"the call", "permissive", "{id: r, ask: Well., when: \"class == 'exec' and command contains 'a b'\"}", "x a b", "ask r"},
		{"every call", "permissive", "{id: r, deny: No.}", "x", "deny r"},
		{"the strictest wins", "permissive", "{id: a, allow: Yes., when: cmd.binary == 'ls'}\n  - {id: b, ask: Well., when: cmd.binary == 'ls'}\n  - {id: c, deny: No., when: cmd.binary == 'ls'}", "ls", "deny c"},
		{"the first explains", "permissive", "{id: a, ask: Well., when: cmd.binary == 'x'}\n  - {id: b, ask: Well., when: command == 'x'}", "x", "ask a"},
		{"a dry run of a denial", "permissive", "{id: r, deny: No., shadow: true, when: cmd.binary == 'x'}", "x", "audit, r would deny"},
		{"a dry run", "permissive", "{id: r, audit: No., when: cmd.binary == 'x'}", "x", "audit, r would deny"},
		{"a denial that fails", "permissive", "{id: r, deny: No., when: " + fails + "}", "x", "deny r"},
		{"a question that fails", "permissive", "{id: r, ask: No., when: " + fails + "}", "x", "deny r"},
		{"an allowance that fails", "strict", "{id: r, allow: Yes., when: " + fails + "}", "ls", "deny"},
		{"an argument that is not there", "permissive", "{id: r, deny: No., when: args.force == true}", "x", "allow"},
		{"a text is built", "permissive", "{id: r, deny: No., when: \"any(cmd.argv, any(cmd.argv, any(words, # + '' == 'a')))\"}", "x", "problem E-expr"},
		{"loops in loops, a function inside", "permissive", "{id: r, deny: No., when: \"any(cmd.argv, any(cmd.argv, any(words, upper(#) == 'B')))\"}", "x", "deny r"},
		{"what costs too much", "permissive", "{id: r, deny: No., when: \"any(1..300, any(1..300, all(1..300, # < 0)))\"}", "x", "deny r"},
		{"no rates", "permissive", "{id: r, deny: No., when: \"rate('commands', '1m') > 0\"}", "x", "allow"},
		{"blocked", "permissive", "{id: r, allow: Yes., when: cmd.binary == 'git'}\nblocked_commands: [git clean -f]", "git clean --force", "deny blocked_commands"},
		{"allowed", "strict", "{id: r, deny: No., when: cmd.binary == 'x'}\nallowed_commands: [git status]", "git status -s", "allow allowed_commands"},
		{"nobody knows the program", "strict", "{id: r, allow: Yes., when: cmd.binary == 'x'}", "x", "problem E-ref"},
		{"two effects", "strict", "{id: r, allow: Yes., deny: No.}", "x", "problem E-key"},
		{"no effect", "strict", "{id: r, when: cmd.known}", "x", "problem E-missing"},
		{"a shadow of nothing", "strict", "{id: r, allow: Yes., shadow: true}", "x", "problem E-value"},
		{"the same id twice", "strict", "{id: r, deny: No.}\n  - {id: r, ask: Well.}", "x", "problem E-dup"},
	} {
		files := maps.Clone(shipped(t))
		delete(files, "tests/replies.yaml")
		files[execFilename] = "version: 1\nprofile: " + row.profile +
			"\nlists: {words: [a, b]}\nrules:\n  - " + row.rules + "\n"
		if row.rules == "" {
			files[execFilename] = "version: 1\nprofile: " + row.profile + "\n"
		}
		for name, kind := range map[string]string{pathsFilename: "paths", urlsFilename: "URLs"} {
			files[name] = "version: 1\nrules: [{id: all, allow: All " + kind + ".}]\n"
		}
		set, problems := untried(files)
		if set == nil {
			if got := "problem " + problems[0].Code; got != row.want {
				t.Errorf("%s: %v", row.name, problems)
			}
			continue
		}
		if got := said(set.CheckCommand(row.command, somebody, exampleAt())); got != row.want {
			t.Errorf("%s: %q is %q, want %q", row.name, row.command, got, row.want)
		}
	}
}

// said is a decision in short: its effect, its rule, and what dry runs would have done.
func said(d policy.Decision) string {
	out := strings.TrimSpace(fmt.Sprint(d.Effect, " ", d.Rule))
	for _, a := range d.Audits {
		out += ", " + strings.TrimSpace(fmt.Sprint(a.Rule, " would ", a.Effect))
	}
	return out
}

// TestCheckedAlone: paths and URLs that no call touches are judged by the rules about them alone.
func TestCheckedAlone(t *testing.T) {
	set := loaded(t)
	for _, row := range []struct{ op, path, want string }{
		{"read", "/srv/project/a.go", "allow"}, {"write", "/srv/project/a.go", "allow"},
		{"read", "/home/agent/.ssh/id_rsa", "deny"}, {"write", "/etc/passwd", "deny"}, {"delete", "/", "deny"},
	} {
		d := set.CheckPath(paths.Op(row.op), row.path, somebody, exampleAt())
		if string(d.Effect) != row.want {
			t.Errorf("%s %s: %s by %s, want %s", row.op, row.path, d.Effect, d.Rule, row.want)
		}
	}
	for url, want := range map[string]string{
		"https://example.com/": "allow", "http://169.254.169.254/latest": "deny",
		"http://127.0.0.1:1/": "deny", "file:///etc/passwd": "deny",
	} {
		if d := set.CheckURL(url, "GET", nil, somebody, exampleAt()); string(d.Effect) != want {
			t.Errorf("%s: %s by %s, want %s", url, d.Effect, d.Rule, want)
		}
	}
}
