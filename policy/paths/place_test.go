package paths

import (
	"strings"
	"testing"
)

// Commands: what a path is by where it lies and what it is named. Nothing is on a disk.
func TestWord(t *testing.T) {
	for _, c := range []struct {
		op    Op
		text  string
		class string
	}{
		{Read, "main.go", Workspace}, {Write, "a/b/c.txt", Workspace}, {Delete, "build", Workspace}, {Read, ".", WorkspaceRoot}, {Delete, ".", WorkspaceRoot},
		{Delete, "/srv/project/", WorkspaceRoot}, {Delete, "sub/..", WorkspaceRoot}, {Delete, "..", Protected}, {Delete, "/srv", Protected}, {Delete, "/", Root},
		{Delete, "//", Root}, {Delete, "/..", Root}, {Delete, "/tmp/..", Root}, {Delete, "/tmp", WorkspaceRoot}, {Write, "/tmp/x", Workspace}, {Write, "/tmpx", Outside},
		{Write, "/srv/project2/x", Outside}, {Read, "../x", Outside}, {Delete, "/home/agent", Home}, {Delete, "~", Home}, {Read, "~/notes", Outside}, {Delete, "/home", Protected},
		{Delete, "../../../..", Root}, {Read, "/etc/passwd", Outside}, {Read, "/etc/hosts", Readable}, {Write, "/etc/hosts", Persist}, {Write, "/etc/x", System},
		{Read, "/usr/share/dict/words", Readable}, {Read, "/usr/bin", Readable}, {Delete, "/usr/bin", Protected}, {Write, "/usr/bin/x", System}, {Write, "/usr/local/bin/x", System},
		{Run, "/usr/bin/git", System}, {Run, "/bin/../bin/rm", System}, {Run, "./ls", Workspace}, {Run, "/tmp/x", Workspace}, {Run, "/opt/x/y", Outside}, {Run, "~/../../bin/rm", System},
		// secrets
		{Read, "~/.ssh/id_rsa", Secret}, {Read, "/home/agent/.aws/credentials", Secret}, {Read, "/home/other/.netrc", Secret}, {Read, "/root/x", Secret}, {Read, "~root/.bashrc", Secret},
		{Read, "/etc/shadow", Secret}, {Read, "/etc/shadow-", Secret}, {Write, "/etc/sudoers.d/x", Secret}, {Read, "~/.config/gcloud/x/y", Secret}, {Read, "~/.config/other", Outside},
		{Read, "~/.bash_history", Secret}, {Delete, "~/.bash_history", Secret}, {Read, "~/.mozilla/firefox/p/logins.json", Secret}, {Read, "~/.password-store/a.gpg", Secret},
		{Read, "~/Library/Keychains/login.keychain-db", Secret}, {Read, "~/Library/Application Support/Google/Chrome/Default/Cookies", Secret}, {Read, "/run/secrets/token", Secret},
		{Read, ".env", WorkspaceSecret}, {Write, ".env", WorkspaceSecret}, {Read, "a/.env.production", WorkspaceSecret}, {Read, ".env.example", Workspace}, {Read, ".env.local.sample", Workspace},
		{Read, "prod.env", WorkspaceSecret}, {Read, ".env/bin/activate", Workspace}, {Read, ".env~", WorkspaceSecret}, {Read, ".environment", Workspace}, {Read, "env", Workspace},
		{Read, "keys/id_rsa", WorkspaceSecret}, {Read, "keys/id_rsa.pub", Workspace}, {Read, "id_rsa.bak", WorkspaceSecret}, {Read, "id_rsa_test.go", Workspace}, {Read, "id_rsafoo", Workspace},
		{Read, "tls/server.key", WorkspaceSecret}, {Read, "tls/cert.pem", Workspace}, {Read, "tls/key.pem", WorkspaceSecret}, {Read, "tls/pubkey.pem", Workspace}, {Read, "keys.go", Workspace},
		{Read, "credentials.json", WorkspaceSecret}, {Read, "src/credentials.ts", Workspace}, {Read, "service_account_test.go", Workspace}, {Read, ".npmrc", WorkspaceSecret}, {Read, "~/.npmrc", Secret},
		{Read, "package.json", Workspace}, {Read, "src/secrets/store.go", Workspace}, {Read, "docs/ssh.md", Workspace}, {Read, "x.ssh", Workspace},
		// what runs by itself
		{Write, "~/.bashrc", Persist}, {Write, "~/.config/systemd/user/x.service", Persist}, {Write, "~/.config/autostart/x.desktop", Persist}, {Write, "/etc/cron.d/x", Persist},
		{Write, "~/.ssh/authorized_keys", Persist}, {Write, "~/.local/bin/ls", Persist}, {Write, "~/.gitconfig", Persist}, {Write, "/var/spool/cron/crontabs/agent", Persist},
		{Write, ".git/hooks/pre-commit", Persist}, {Write, ".git/config", Persist}, {Write, ".git/modules/a/config", Persist}, {Write, ".git/info/attributes", Persist}, {Write, "bare.git/hooks/update", Persist}, {Delete, "a.git/b.git/.git", VCS}, {Read, "a.git/hooks/x", Workspace}, {Write, "a.git/x", Workspace},
		{Write, ".git/HEAD", VCS}, {Delete, ".git", VCS}, {Delete, ".git/objects", VCS}, {Delete, ".git/index.lock", Workspace}, {Write, ".git/COMMIT_EDITMSG", Workspace}, {Read, ".git/config", Workspace},
		{Write, ".gitignore", Workspace}, {Write, ".gitattributes", Automation}, {Write, ".github/workflows/ci.yml", Automation}, {Read, ".github/workflows/ci.yml", Workspace}, {Write, ".envrc", Automation},
		{Write, ".vscode/tasks.json", Automation}, {Write, ".npmrc", Automation}, {Write, "dotfiles/.bashrc", Automation}, {Write, ".husky/pre-push", Automation}, {Write, ".claude/settings.json", Persist},
		{Write, "Makefile", Workspace}, {Write, "package.json", Workspace}, {Write, "Jenkinsfile", Automation},
		// the guard's own
		{Write, "~/.openclaw/openclaw.json", Control}, {Read, "~/.openclaw/openclaw.json", Secret}, {Read, "~/.openclaw/skills/x.md", Control}, {Write, ".openclaw/x", Control}, {Write, "rules/exec.yaml", Control},
		{Delete, "rules", Control}, {Write, "rulesx/a", Workspace}, {Delete, "~/.openclaw", Control},
		// other spellings
		{Write, ".GIT/config", Persist}, {Write, ".git./config", Persist}, {Write, ".git /config", Persist}, {Write, "git~1/config", Persist}, {Write, ".git::$INDEX_ALLOCATION/config", Persist},
		{Write, ".g\u200cit/config", Persist}, {Read, "~/.ſſh/x", Secret}, {Read, "~/.SSH/x", Secret}, {Write, "OPENCL~1/x", Control}, {Read, ".ENV", WorkspaceSecret}, {Read, "README~1", Workspace},
		// devices
		{Write, "/dev/sda", BlockDevice}, {Write, "/dev/nvme0n1", BlockDevice}, {Read, "/dev/disk/by-uuid/1", BlockDevice}, {Write, "/dev/null", Null}, {Read, "/dev/zero", Null}, {Write, "/dev/stdout", Null},
		{Read, "/dev/fd/3", Null}, {Write, "/dev/tcp/192.0.2.1/80", Socket}, {Read, "/dev/mem", Device}, {Write, "/dev/shm/x", Outside}, {Delete, "/dev", Protected}, {Write, "/var/run/docker.sock", Socket},
		{Read, "/proc/self/environ", Secret}, {Read, "/proc/1/environ", Secret}, {Read, "/proc/1/task/1/environ", Secret}, {Read, "/proc/cpuinfo", Readable}, {Read, "/proc/self/root/etc/shadow", Secret},
		{Write, "/proc/sysrq-trigger", Kernel}, {Write, "/sys/power/state", Kernel}, {Write, "/proc/self/fd/1", Null}, {Read, "/proc/1/fd/1", Kernel}, {Read, "/proc/self/cwd/x", Kernel}, {Read, "/proc/self/cwd/../../../tmp/x", Malformed}, {Read, "/dev/fd/7/../x", Malformed}, {Read, "/proc/../tmp/x", Workspace}, {Read, "proc/../x", Workspace},
		// what is no path
		{Read, "", Malformed}, {Read, "a\x00b", Malformed},
	} {
		if u := (Guard{Roots: roots}).Word(c.op, Word{Text: c.text}, roots.Cwd,
			"argument"); u.Class != c.class {
			t.Errorf("%s %q: %s, want %s", c.op, c.text, u.Class, c.class)
		}
	}
}

// What is only known at run time, and patterns.
func TestUnknown(t *testing.T) {
	dynamic := func(text string, prefix int) Word { return Word{Text: text, Dynamic: true, Prefix: prefix} }
	glob := func(text string) Word { return Word{Text: text, Glob: true} }
	for _, c := range []struct {
		op    Op
		word  Word
		class string
	}{
		{Delete, dynamic("", 0), Dynamic}, {Delete, dynamic("/", 0), Root}, {Read, dynamic("/", 0), Root}, {Delete, dynamic("build/", 6), Dynamic}, {Write, dynamic("/file", 0), Dynamic},
		{Delete, dynamic("./", 2), WorkspaceRoot}, {Read, dynamic("./", 2), Dynamic}, {Write, dynamic("/etc/", 5), Protected}, {Write, dynamic("/opt/x/", 7), Outside}, {Write, dynamic("/etc/x", 0), Dynamic}, {Delete, dynamic("/tm", 3), Dynamic},
		{Delete, dynamic("/usr", 0), Protected}, {Read, dynamic("/.ssh/id_rsa", 0), Secret}, {Read, dynamic("/.env", 0), Secret}, {Write, dynamic(".env", 0), Dynamic}, {Read, dynamic("/home/agent/.ssh/", 17), Secret},
		{Delete, Word{Text: "/*", Dynamic: true, Glob: true}, Protected}, {Write, dynamic("/dev/sd", 7), BlockDevice}, {Write, dynamic("/dev/null", 0), Dynamic},

		{Delete, glob("*"), WorkspaceRoot}, {Delete, glob("./*"), WorkspaceRoot}, {Read, glob("*"), Workspace}, {Write, glob("*"), Workspace}, {Delete, glob("*.pyc"), Workspace}, {Delete, glob("build/*"), Workspace},
		{Delete, glob("**"), WorkspaceRoot}, {Delete, glob("?*"), WorkspaceRoot}, {Delete, glob("*.*"), WorkspaceRoot}, {Delete, glob("!(keep)"), WorkspaceRoot}, {Delete, glob("[!x]*"), WorkspaceRoot}, {Delete, glob("[0-9]*"), Workspace},
		{Delete, glob("/*"), Protected}, {Delete, glob("/e*"), Protected}, {Delete, glob("/u??/bin"), Protected}, {Read, glob("/*"), Protected}, {Delete, glob("/usr/*"), Protected}, {Delete, glob("/srv/p*"), Protected},
		{Delete, glob("../*"), Protected}, {Delete, glob("*/.."), WorkspaceRoot}, {Delete, glob("*/../.."), Protected}, {Delete, glob("*/../../*"), Protected}, {Write, glob(".*"), Protected}, {Delete, glob(".??*"), VCS}, {Read, glob(".*"), Protected}, {Read, glob("cred*"), WorkspaceSecret}, {Delete, glob("p*"), Workspace},
		{Delete, glob("~/*"), Home}, {Read, glob("~/*"), Outside}, {Delete, glob("/home/*"), Protected}, {Delete, glob("/tmp/scratch-*"), Workspace}, {Delete, glob("/tmp/*"), WorkspaceRoot},
		{Read, glob("src/*.ts"), Workspace}, {Read, glob("src/**/*.go"), Workspace}, {Read, glob("/etc/sh*"), Secret}, {Read, glob("/e*c/shadow"), Secret}, {Read, glob("/etc/*.conf"), Outside}, {Read, glob("~/.ss*/id*"), Secret},
		{Read, glob("~/.s?h/config"), Secret}, {Read, glob(".e*"), WorkspaceSecret}, {Read, glob("id_*"), WorkspaceSecret}, {Read, glob("*.key"), WorkspaceSecret}, {Write, glob(".g*/hooks/*"), Persist}, {Write, glob(".git/hooks/*"), Persist},
		{Write, glob(".git/hook?/x"), Persist}, {Write, glob("~/.bash*"), Secret}, {Write, glob("~/.bashr*"), Persist}, {Read, glob("/usr/share/doc/*/copyright"), Readable}, {Write, glob("/dev/sd*"), BlockDevice}, {Read, glob("test_*.py"), Workspace},
		{Read, glob("[a/*"), Workspace}, {Delete, glob(strings.Repeat(".s*/", 500)), Malformed}, {Delete, glob("r*"), Control}, {Read, glob("r*"), Workspace},
	} {
		if u := (Guard{Roots: roots}).Word(c.op, c.word, roots.Cwd, "argument"); u.Class != c.class {
			t.Errorf("%s %+v: %s, want %s", c.op, c.word, u.Class, c.class)
		}
	}
	for text, want := range map[string]string{"x": Dynamic, "/etc/shadow": Secret, ".ssh/id_rsa": Dynamic,
		"../../../../../../../../../..": Root, "/tmp/x": Workspace} {
		if u := (Guard{Roots: roots}).Word(Delete, Word{Text: text}, "", "argument"); u.Class != want ||
			(u.Resolved == "") != (want == Dynamic) && want != Root {
			t.Errorf("in a folder that is not known, %q: %s %s, want %s", text, u.Class, u.Resolved, want)
		}
	}
}

// File tools: nothing is filled in, what tools read differently is refused.
func TestLiteral(t *testing.T) {
	for _, c := range []struct {
		op                Op
		text, class, mark string
	}{
		{Read, "a.go", Workspace, ""}, {Read, "src/[id]/page.tsx", Workspace, ""}, {Read, "src/*.go", Workspace, ""}, {Read, "src/**/*.go", Workspace, MarkPattern}, {Read, "../*", Outside, ""},
		{Read, "{a,../../etc}/passwd", Workspace, MarkBraces}, {Read, "{{name}}/x", Workspace, ""}, {Read, "routes/$slug.tsx", Workspace, ""}, {Read, "$types.ts", Workspace, ""}, {Read, "%41bc", Workspace, ""},
		{Read, "$HOME/x", Malformed, ""}, {Read, "a/${HOME}/x", Malformed, ""}, {Read, "a/$(id)", Malformed, ""}, {Read, "%USERPROFILE%/x", Malformed, ""}, {Read, "~root/x", Malformed, ""}, {Read, "~/x", Outside, ""},
		{Read, "~/.ssh/x", Secret, ""}, {Read, `a\b`, Workspace, MarkBackslash}, {Read, `C:\x`, Malformed, ""}, {Read, `C:/x`, Malformed, ""}, {Read, `\\host\x`, Malformed, ""}, {Read, "@/etc/shadow", Secret, ""}, {Read, "@types/x.d.ts", Workspace, ""},
		{Read, "@../x", Outside, ""}, {Read, "file:///srv/project/a", Workspace, ""}, {Read, "file:///etc/shadow", Secret, ""}, {Read, "FILE://localhost/etc/x", Outside, ""}, {Read, "file://host/a", Malformed, ""}, {Read, "file:a", Malformed, ""},
		{Read, "file:///srv/project/%2e%2e/x", Outside, ""}, {Read, "file:///srv/project/%00", Malformed, ""}, {Read, "file:///srv/project/%252e", Workspace, ""}, {Read, "a\u200b", Workspace, MarkInvisible}, {Read, "at 9.41\u202fAM.png", Workspace, ""}, {Read, "\u2764\ufe0f.md", Workspace, ""}, {Read, ".env\u00a0", WorkspaceSecret, MarkLookAlike}, {Read, strings.Repeat("@", 200), Workspace, ""},
		{Read, "\u202egpj.exe", Workspace, MarkInvisible}, {Read, "\uff0e\uff0e/x", Workspace, MarkConfused}, {Read, "a\u2215b", Workspace, MarkConfused}, {Read, "a\nb", Workspace, MarkControl}, {Read, "a\x1b[2K", Workspace, MarkControl}, {Read, "a\xff", Workspace, MarkControl},
		{Read, "über/ñandú.txt", Workspace, ""}, {Read, "日本/x", Workspace, ""}, {Read, "/dev/stdin", Device, ""}, {Read, "/dev/null", Null, ""}, {Read, "/dev/zero", Device, ""}, {Read, "/proc/cpuinfo", Kernel, ""}, {Read, "/proc/self/fd/1", Kernel, ""},
		{Write, ".gIt\u200d/hooks/x", Persist, MarkLookAlike}, {Write, "git~1/hooks/x", Persist, MarkLookAlike}, {Read, "...", Workspace, ""}, {Read, "..x/y", Workspace, ""}, {Read, "a..b", Workspace, ""},
	} {
		u := (Guard{Roots: roots}).Literal(c.op, c.text)
		if u.Class != c.class || !contains(u.Marks, c.mark) || c.mark == "" && len(u.Marks) > 0 &&
			u.Class != Malformed {
			t.Errorf("%s %q: %s %v, want %s %s", c.op, c.text, u.Class, u.Marks, c.class, c.mark)
		}
	}
}

// What roots list as secret is that wherever it lies, but for a root in it, and whatever holds it is not
// around the workspace.
func TestListedSecrets(t *testing.T) {
	g := Guard{Roots: Roots{Cwd: "/srv/project", Home: "/home/agent", Look: []string{"/home/agent", "/srv"},
		Write: []string{"/srv/project", "/home/agent/vault/open"}}}
	g.Roots.Secret = []string{"/srv/project/keys", "/home/agent/vault", "/srv/list.txt"}
	g.Roots.Own = g.Roots.Secret
	for _, c := range []struct {
		op          Op
		text, class string
	}{
		{Read, "keys/a", Secret}, {Write, "keys/a", Secret}, {Delete, "keys", Secret}, {Read, "keys2/a", Workspace},
		{Read, "k*s/a", Secret}, {Read, "k*s", Secret}, {Read, "*", Secret}, {Read, "*.go", Workspace}, {Read, "src/*", Workspace}, {Delete, "k*", Secret}, {Read, "~/vault", Secret}, {Read, "~/vault/x/y", Secret}, {Read, "~/vault/open/x", Workspace},
		{Read, "/srv/list.txt", Secret}, {Read, "/srv/other.txt", Around}, {Read, "~", Home}, {Read, "/srv", Protected},
	} {
		if u := g.Word(c.op, Word{Text: c.text, Glob: strings.Contains(c.text, "*")}, g.Roots.Cwd, "argument"); u.Class != c.class {
			t.Errorf("%s %q: %s, want %s", c.op, c.text, u.Class, c.class)
		}
	}
	moved := g.Roots.Of("/home/bo")
	for _, place := range []string{"/home/bo/vault/x", "/home/agent/vault/x"} {
		if u := (Guard{Roots: moved}).Literal(Read, place); u.Class != Secret {
			t.Errorf("%s for another user: %s", place, u.Class)
		}
	}
}

// Roots nest: the innermost counts, and special folders around a root do not.
func TestNested(t *testing.T) {
	g := Guard{Roots: Roots{
		Cwd: "/home/agent/.openclaw/workspace", Home: "/home/agent", Own: []string{"/home/agent/.openclaw",
			"/home/agent/.config/sidecar"},
		Write: []string{"/home/agent/.openclaw/workspace", "/home/agent/code"},
		Read:  []string{"/home/agent/.openclaw/skills", "/home/agent/code/vendor", "/root/shared"},
	}}
	for _, c := range []struct {
		op          Op
		text, class string
	}{
		{Write, "notes.md", Workspace}, {Write, ".env", WorkspaceSecret}, {Write, ".git/hooks/x", Persist}, {Write, "../openclaw.json", Control}, {Read, "../openclaw.json", Secret}, {Read, "../skills/a.md", Readable},
		{Write, "../skills/a.md", Readable}, {Delete, "..", Control}, {Delete, ".", WorkspaceRoot}, {Write, ".openclaw/x", Control}, {Write, "~/code/vendor/x", Readable}, {Read, "~/code/vendor/x", Readable}, {Write, "~/code/x", Workspace},
		{Delete, "~/.config", Protected}, {Write, "~/.config/sidecar/x", Control}, {Read, "/root/shared/x", Readable}, {Read, "/root/x", Secret}, {Write, "~/code/.ssh/x", WorkspaceSecret}, {Write, "~/.ssh/x", Secret},
	} {
		if u := g.Word(c.op, Word{Text: c.text}, g.Roots.Cwd, "argument"); u.Class != c.class {
			t.Errorf("%s %q: %s, want %s", c.op, c.text, u.Class, c.class)
		}
	}
	whole := Guard{Roots: Roots{Cwd: "/root", Home: "/root", Write: []string{"/root"}}}
	for text, want := range map[string]string{"x": Workspace, ".ssh/x": Secret, ".bashrc": Persist,
		"code/.bashrc": Automation, ".npmrc": Persist, "code/.env": WorkspaceSecret, ".": WorkspaceRoot} {
		if u := whole.Literal(Write, text); u.Class != want {
			t.Errorf("the home folder is the root, %q: %s, want %s", text, u.Class, want)
		}
	}
	below := Guard{Roots: Roots{Cwd: "/root/work", Home: "/root", Write: []string{"/root/work"}}}
	for text, want := range map[string]string{"*.log": Workspace, "build/*": Workspace, "*": WorkspaceRoot,
		"../*": Protected, "../*.log": Outside, "../.s?h/x": Secret, "../w*": Protected} {
		if u := below.Word(Delete, Word{Text: text, Glob: true}, "/root/work", "argument"); u.Class != want {
			t.Errorf("below a special folder, %q: %s, want %s", text, u.Class, want)
		}
	}
}
