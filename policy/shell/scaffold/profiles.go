package scaffold

import (
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// ---- environment variables whose value is code or a program
var codeEnv = set("LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT BASH_ENV ENV PROMPT_COMMAND PS4 SHELLOPTS BASHOPTS PAGER GIT_PAGER MANPAGER LESSOPEN LESSCLOSE EDITOR VISUAL GIT_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_PROXY_COMMAND PYTHONSTARTUP PYTHONPATH PYTHONHOME PERL5OPT PERL5LIB RUBYOPT RUBYLIB NODE_OPTIONS NODE_PATH JAVA_TOOL_OPTIONS RUSTC_WRAPPER RUSTC GOFLAGS CC CXX npm_config_script_shell BROWSER IFS_ HOSTALIASES DYLD_INSERT_LIBRARIES FPATH CDPATH")

func set(s string) map[string]bool {
	m := map[string]bool{}
	for _, x := range strings.Fields(s) {
		m[x] = true
	}
	return m
}

// ---- transparent wrappers: options that take a value, and the number of leading positionals to drop
type wrapSpec struct {
	val  string // options with a separate value
	pos  int
	kind string
}

var wrappers = map[string]wrapSpec{
	"sudo": {"-u -g -C -h -p -r -t -T -U -D -R --user --group --chdir --prompt --host", 0, "priv"}, "doas": {"-u -C -a", 0, "priv"}, "pkexec": {"--user", 0, "priv"}, "runuser": {"-u -g -G --user", 0, "priv"},
	"setpriv": {"--reuid --regid --groups --inh-caps --bounding-set", 0, "priv"}, "unshare": {"--map-user --map-group --root --wd -S -G -R", 0, "ns"}, "nsenter": {"-t -S -G --target", 0, "ns"}, "chroot": {"--userspec --groups", 1, "ns"}, "bwrap": {"", -1, "ns"}, "firejail": {"", 0, "ns"}, "systemd-run": {"-p --unit -u -t --slice", 0, "ns"},
	"nice": {"-n --adjustment", 0, ""}, "nohup": {"", 0, ""}, "timeout": {"-k -s --kill-after --signal", 1, ""}, "time": {"-f -o --format --output", 0, ""}, "stdbuf": {"-i -o -e --input --output --error", 0, ""}, "setsid": {"", 0, ""}, "ionice": {"-c -n -p -P -u --class --classdata", 0, ""}, "chrt": {"-T -P -D", 1, ""}, "taskset": {"", 1, ""}, "prlimit": {"--pid -p", 0, ""},
	"strace": {"-e -o -s -p -u -E -a -b -I -O -P -S -X", 0, "trace"}, "ltrace": {"-e -o -s -p -u", 0, "trace"}, "cpulimit": {"-l -p -e --limit", 0, ""}, "fakeroot": {"-l -s -i -b", 0, ""}, "dbus-run-session": {"", 0, ""}, "xvfb-run": {"-e -f -n -p -s -w", 0, ""}, "unbuffer": {"", 0, ""}, "logsave": {"", 1, ""}, "daemonize": {"-a -e -o -p -l -u -c -E", 0, ""}, "toybox": {"", 0, "multi"}, "busybox": {"", 0, "multi"}, "flock": {"-w -E --timeout", 1, "flock"}, "catchsegv": {"", 0, ""}, "command": {"", 0, "builtin"}, "builtin": {"", 0, "builtin"}, "exec": {"-a", 0, "builtin"}, "entr": {"", 0, ""}, "parallel": {"-j --jobs", 0, ""}, "torsocks": {"", 0, ""}, "caffeinate": {"-t -w", 0, ""},
}
var shells = set("sh bash dash zsh ksh ash fish rbash mksh yash busybox-sh")

// interpreters: flags that carry code
var interp = map[string]string{"python": "-c", "python2": "-c", "python3": "-c", "pypy": "-c", "pypy3": "-c", "perl": "-e -E -n -p -i", "ruby": "-e -n -p -i", "node": "-e --eval -p --print -r --require -i", "nodejs": "-e --eval -p", "deno": "eval", "bun": "-e --eval -p", "php": "-r -B -R -E", "lua": "-e", "luajit": "-e", "tclsh": "", "osascript": "-e", "R": "-e", "Rscript": "-e", "julia": "-e -E", "ghc": "-e", "octave": "--eval", "emacs": "--eval --batch -l", "jshell": "", "groovy": "-e", "scala": "-e", "pwsh": "-Command -c -ec -EncodedCommand -File", "powershell": "-Command", "gdb": "-ex -x", "sqlite3": "", "psql": "-c -f", "mysql": "-e", "dc": "-e", "bc": "", "m4": "", "ed": "", "ex": "-c", "vim": "-c", "vi": "-c", "expect": "-c", "irb": "", "jq": ""}

var readers = set("cat head tail wc grep egrep fgrep rg less more tac nl od hexdump xxd strings stat file cmp diff comm paste column cut sort uniq fold fmt pr sum md5sum sha1sum sha256sum sha512sum cksum base64 base32 jq yq tree ls du df readlink realpath basename dirname rev expand unexpand tsort shuf join zcat gunzip gzip bzip2 xz zstd awk gawk mawk sed find bat bridge date numfmt look vim vi ed")
var allowBins = set("echo printf true false test [ : cd pwd date sleep seq id whoami uname hostname which type basename dirname ls cat head tail wc grep egrep fgrep rg find stat file du df sort uniq cut tr tee diff cmp comm paste column nl rev tac tree less more man help md5sum sha1sum sha256sum base64 xxd od hexdump strings jq yq sed awk xargs read break continue return shift set export local declare typeset readonly unset trap pushd popd dirs wait jobs disown command hash alias let getopts ulimit umask exit mkdir touch cp mv rm ln chmod truncate dd tar gzip gunzip zip unzip patch git go gofmt make npm pnpm yarn node python3 python pytest pip cargo mvn curl wget openssl ps pgrep printenv env timeout nice time stdbuf bash sh realpath readlink rmdir docker kubectl tput wait unlink select ping sum shred install xz split join mktemp fold fmt expr numfmt times builtin exec eval source .")

func (c *ctx) abs(p string) string {
	if strings.HasPrefix(p, "~/") {
		p = c.cfg.Home + p[1:]
	}
	if !strings.HasPrefix(p, "/") {
		p = c.cwd + "/" + p
	}
	return path.Clean(p)
}

var secretRe = regexp.MustCompile(`(^|/)(\.ssh(/|$)|\.aws(/|$)|\.gnupg(/|$)|\.netrc$|\.kube/config|\.docker/config\.json|\.config/gcloud|\.azure|\.npmrc$|\.pypirc$|\.bash_history|\.git-credentials|id_rsa|id_ed25519|id_ecdsa|credentials(\.db|\.json)?$)|^/etc/(shadow|gshadow|sudoers|ssh/|ssl/private)|^/root(/|$)|^/proc/(\d+|self)/(environ|mem|maps)|/openclaw\.json$`)
var persistRe = regexp.MustCompile(`(^|/)(\.bashrc|\.bash_profile|\.profile|\.zshrc|\.bash_login|\.inputrc|\.vimrc|\.gitconfig)$|/\.git/(hooks/|config)|/\.ssh/|^/etc/(cron|sudoers|profile|ld\.so|systemd|passwd|shadow|hosts|rc)|^/var/spool/cron|/\.config/(systemd|autostart|sidecar)|/\.openclaw|/\.claude/|/\.codex/`)
var protectedTop = set("/ /bin /boot /dev /etc /home /lib /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /var /usr/bin /usr/lib /usr/local /var/log")

func (c *ctx) path(f Field, via string) Path {
	p := Path{Path: f.S, Dyn: f.Dyn, Via: via}
	if c.cwdUnk && !strings.HasPrefix(f.S, "/") {
		p.Dyn = true
	}
	p.Class = c.class(f)
	return p
}
func within(p, root string) bool {
	return p == root || strings.HasPrefix(p, strings.TrimSuffix(root, "/")+"/")
}
func (c *ctx) class(f Field) string {
	s := f.S
	if s == "" && f.Dyn {
		return "dynamic"
	}
	if strings.HasPrefix(s, "/dev/tcp/") || strings.HasPrefix(s, "/dev/udp/") {
		return "socket"
	}
	glob := ""
	if i := strings.IndexAny(s, "*?["); i >= 0 && f.Glob {
		glob = s[i:]
		s = s[:i]
		if j := strings.LastIndex(s, "/"); j >= 0 {
			s = s[:j+1]
		} else {
			s = "."
		}
	}
	a := c.abs(s)
	if l, ok := c.f.Relinked[a]; ok {
		a = l
	}
	if f.Dyn && strings.HasSuffix(f.S, "/") && f.S == "/" {
		return "root"
	}
	switch {
	case a == "/":
		if glob != "" {
			return "protected"
		}
		return "root"
	case strings.HasPrefix(a, "/dev/sd"), strings.HasPrefix(a, "/dev/nvme"), strings.HasPrefix(a, "/dev/vd"), strings.HasPrefix(a, "/dev/hd"), strings.HasPrefix(a, "/dev/mapper"), strings.HasPrefix(a, "/dev/md"), strings.HasPrefix(a, "/dev/loop"):
		return "blockdev"
	case a == "/dev/null" || a == "/dev/stdout" || a == "/dev/stderr" || a == "/dev/tty" || a == "/dev/stdin" || strings.HasPrefix(a, "/dev/fd/"):
		return "null"
	case secretRe.MatchString(a):
		return "secret"
	case persistRe.MatchString(a):
		return "persist"
	case strings.HasPrefix(a, "/proc/sys") || strings.HasPrefix(a, "/sys/"):
		return "kernel"
	case a == c.cfg.Home || (glob != "" && a == c.cfg.Home):
		return "home"
	case c.isRoot(a):
		if glob != "" && glob != "*" && !strings.HasPrefix(glob, "*/") {
			return "workspace"
		}
		if a == "/tmp" {
			return "workspace"
		}
		return "workspace_root"
	}
	for _, r := range c.cfg.WriteRoots {
		if within(a, r) {
			if strings.HasSuffix(a, "/.git") {
				return "vcs"
			}
			if f.Dyn {
				return "dynamic"
			}
			return "workspace"
		}
		if within(r, a) {
			return "protected"
		}
	}
	if protectedTop[a] {
		return "protected"
	}
	if c.cfg.ReadFiles[a] {
		return "readable"
	}
	for _, r := range c.cfg.ReadRoots {
		if within(a, r) {
			return "system"
		}
	}
	if f.Dyn {
		return "dynamic"
	}
	return "outside"
}
func (c *ctx) isRoot(a string) bool {
	for _, r := range c.cfg.WriteRoots {
		if a == r {
			return true
		}
	}
	return false
}

var metaHosts = set("metadata.google.internal metadata metadata.goog instance-data 169.254.169.254 100.100.100.200 fd00:ec2::254")

func (c *ctx) url(f Field, method string) (URL, bool) {
	s := f.S
	if !strings.Contains(s, "://") {
		return URL{}, false
	}
	u := URL{URL: s, Method: method}
	if f.Dyn {
		u.Class = "dynamic"
	}
	p, err := url.Parse(s)
	if err != nil {
		u.Class = "badurl"
		return u, true
	}
	u.Scheme, u.Host = strings.ToLower(p.Scheme), strings.TrimSuffix(strings.ToLower(p.Hostname()), ".")
	if u.Scheme != "http" && u.Scheme != "https" {
		u.Class = "badscheme"
		return u, true
	}
	u.Class = hostClass(u.Host)
	if f.Dyn && u.Class == "public" {
		u.Class = "dynamic"
	}
	return u, true
}
func hostClass(h string) string {
	if metaHosts[h] {
		return "metadata"
	}
	if h == "" {
		return "badurl"
	}
	if h == "localhost" || strings.HasSuffix(h, ".localhost") || strings.HasSuffix(h, ".local") || strings.HasSuffix(h, ".internal") || strings.HasSuffix(h, ".localdomain") {
		return "private"
	}
	if ip, err := netip.ParseAddr(h); err == nil {
		ip = ip.Unmap()
		if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
			return "private"
		}
		return "public"
	}
	if regexp.MustCompile(`^(0x[0-9a-f]+|[0-9]+)(\.(0x[0-9a-f]+|[0-9]+))*$`).MatchString(h) {
		return "private" // legacy IPv4 spelling: never allowed
	}
	return "public"
}

func split(args []Field, valOpts string) (flags []string, pos []Field, vals map[string]Field) {
	v := set(valOpts)
	vals = map[string]Field{}
	for i := 0; i < len(args); i++ {
		s := args[i].S
		if s == "--" {
			pos = append(pos, args[i+1:]...)
			return
		}
		if strings.HasPrefix(s, "-") && len(s) > 1 {
			if strings.HasPrefix(s, "--") {
				n, val, has := strings.Cut(s, "=")
				flags = append(flags, n)
				if has {
					vals[n] = Field{S: val, Dyn: args[i].Dyn}
				} else if v[n] && i+1 < len(args) {
					i++
					vals[n] = args[i]
				}
				continue
			}
			if v[s] {
				flags = append(flags, s)
				if i+1 < len(args) {
					i++
					vals[s] = args[i]
				}
				continue
			}
			// bundle
			done := false
			for j := 1; j < len(s); j++ {
				fl := "-" + string(s[j])
				flags = append(flags, fl)
				if v[fl] {
					if j+1 < len(s) {
						vals[fl] = Field{S: s[j+1:], Dyn: args[i].Dyn}
					} else if i+1 < len(args) {
						i++
						vals[fl] = args[i]
					}
					done = true
					break
				}
			}
			if !done {
				flags = append(flags, s)
			}
			continue
		}
		pos = append(pos, args[i])
	}
	return
}
func hasFlag(fl []string, xs ...string) bool {
	for _, f := range fl {
		for _, x := range xs {
			if f == x {
				return true
			}
		}
	}
	return false
}

// abbreviated GNU long option?
func longIs(fl []string, full string, min int) bool {
	for _, f := range fl {
		if len(f) >= min && strings.HasPrefix(full, f) {
			return true
		}
	}
	return false
}

func (c *ctx) call(fs []Field, rw, rr []Path, procs []*syntax.ProcSubst) {
	if len(fs) == 0 {
		return
	}
	if c.depth > c.cfg.MaxDepth {
		c.f.TooDeep = true
		return
	}
	name := fs[0].S
	cm := Command{Depth: c.depth, Via: c.via, Env: c.env, Wrappers: append([]string(nil), c.wrap...), Stdin: c.stdin, Background: c.bg, Cwd: c.cwd}
	cm.Writes, cm.Reads = append(cm.Writes, rw...), append(cm.Reads, rr...)
	for _, f := range fs {
		cm.Argv = append(cm.Argv, f.S)
	}
	for _, f := range fs[1:] {
		cm.DynArgs = cm.DynArgs || f.Dyn
	}
	cm.DynWord = fs[0].Dyn || fs[0].Glob
	if name == "" {
		c.dyn("empty or unknown command word")
		// "$UNKNOWN -rf /": keep the rest as evidence
		c.f.Commands = append(c.f.Commands, cm)
		return
	}
	if cm.DynWord {
		c.dyn("command word is not literal: " + name)
	}
	if h, ok := c.hash[name]; ok {
		name = h
	}
	base := path.Base(name)
	if strings.Contains(name, "/") {
		cm.Path = c.abs(name)
		cm.PathClass = c.class(Field{S: name})
		base = path.Base(cm.Path)
	}
	cm.Binary = base
	if c.stdin.Kind == "script" && readsStdin(base, fs[1:]) {
		c.dyn(base + " consumes part of the script that the shell is reading")
	}
	if c.alias[name] {
		c.dyn("alias defined in the same script: " + name)
	}
	if body, ok := c.funcs[name]; ok && cm.Path == "" {
		inStack := false
		for _, s := range c.stack {
			inStack = inStack || s == name
		}
		if !inStack {
			n := c.clone()
			n.depth++
			n.stack = append(append([]string(nil), c.stack...), name)
			n.setPos(fs, 1)
			n.via = "function " + name
			cm.Tags = append(cm.Tags, "function")
			c.f.Commands = append(c.f.Commands, cm)
			n.stmt(body)
			c.cwd, c.cwdUnk = n.cwd, n.cwdUnk
			return
		}
	}
	args := fs[1:]
	emit := func() { c.f.Commands = append(c.f.Commands, cm) }
	inner := func(a []Field, via string) {
		n := c.clone()
		n.wrap = append(n.wrap, base)
		if via != "" {
			n.via = via
		}
		n.call(a, nil, nil, procs)
	}
	// ---------------- wrappers
	if w, ok := wrappers[base]; ok {
		switch {
		case base == "command" && len(args) > 0 && (args[0].S == "-v" || args[0].S == "-V"):
			cm.Tags = append(cm.Tags, "lookup")
			emit()
			return
		case base == "exec" && len(args) == 0:
			emit()
			return
		}
		val := set(w.val)
		i := 0
		shellMode := false
		for i < len(args) {
			s := args[i].S
			if s == "--" {
				i++
				break
			}
			if s == "-c" && (base == "flock") && i+1 < len(args) {
				break
			}
			if base == "sudo" && (s == "-s" || s == "-i") {
				shellMode = true
			}
			if strings.HasPrefix(s, "-") && len(s) > 1 || (base == "sudo" && strings.Contains(s, "=") && !strings.HasPrefix(s, "/")) {
				if val[s] {
					i++
				}
				if base == "prlimit" && !strings.Contains(s, "=") && strings.HasPrefix(s, "--") && s != "--pid" {
				}
				i++
				if base == "taskset" && (s == "-c" || s == "-cp") {
					if w.pos > 0 && i < len(args) {
						// list is the positional
					}
				}
				continue
			}
			break
		}
		if w.pos == -1 { // bwrap: options take a variable number of values; look for the first known word after options
			for i < len(args) && (strings.HasPrefix(args[i].S, "-") || strings.HasPrefix(args[i].S, "/")) {
				i++
			}
		}
		i += max(w.pos, 0)
		if base == "flock" && i < len(args) && args[i].S == "-c" {
			cm.Tags = append(cm.Tags, "wrapper")
			emit()
			if i+1 < len(args) {
				c.code(&cm, args[i+1], "flock -c")
			}
			return
		}
		if base == "entr" {
			for i < len(args) && strings.HasPrefix(args[i].S, "-") {
				i++
			}
		}
		cm.Tags = append(cm.Tags, "wrapper")
		if w.kind == "priv" {
			cm.Tags = append(cm.Tags, "privilege")
		}
		if w.kind == "ns" {
			cm.Tags = append(cm.Tags, "namespace")
		}
		if w.kind == "multi" && i < len(args) && !allowBins[args[i].S] && args[i].S != "rm" && !shells[args[i].S] {
			cm.Tags = append(cm.Tags, "unlisted")
		}
		emit()
		if i >= len(args) {
			if shellMode || base == "nsenter" || base == "unshare" || base == "chroot" {
				c.shellStdin(&cm, base)
			}
			return
		}
		rest := args[i:]
		if base == "parallel" {
			var tail []Field
			for j, a := range rest {
				if a.S == ":::" {
					tail = rest[j+1:]
					rest = rest[:j]
					break
				}
			}
			rest = append(append([]Field(nil), rest...), tail...)
			if len(tail) == 0 {
				rest = append(rest, Field{Dyn: true})
			}
		}
		if shellMode {
			var l []string
			for _, a := range rest {
				l = append(l, a.S)
			}
			inner(rest, "")
			return
		}
		inner(rest, "")
		if base == "exec" {
			c.cwdUnk = c.cwdUnk || false
		}
		return
	}
	switch base {
	case "env":
		c.env2(&cm, args, inner, emit)
		return
	case "su", "sg":
		cm.Tags = append(cm.Tags, "privilege", "wrapper")
		emit()
		for i, a := range args {
			if a.S == "-c" && i+1 < len(args) {
				c.code(&cm, args[i+1], base+" -c")
			}
		}
		return
	case "capsh":
		cm.Tags = append(cm.Tags, "wrapper")
		for i, a := range args {
			if a.S == "--" {
				emit()
				n := c.clone()
				n.wrap = append(n.wrap, base)
				n.call(append([]Field{{S: "bash"}}, args[i+1:]...), nil, nil, nil)
				return
			}
		}
		emit()
		return
	case "script":
		cm.Tags = append(cm.Tags, "wrapper")
		_, pos, vals := split(args, "-c --command -T -m -o -O -I -B -E")
		emit()
		if v, ok := vals["-c"]; ok {
			c.code(&cm, v, "script -c")
		}
		_ = pos
		return
	case "watch":
		cm.Tags = append(cm.Tags, "wrapper", "longrun")
		fl, pos, _ := split(args, "-n --interval")
		emit()
		if len(pos) > 0 {
			if hasFlag(fl, "-x") {
				inner(pos, "watch -x")
			} else {
				c.code(&cm, joinF(pos), "watch")
			}
		}
		return
	case "tmux", "screen":
		cm.Tags = append(cm.Tags, "wrapper", "longrun")
		emit()
		if len(args) > 0 {
			l := args[len(args)-1]
			if strings.Contains(l.S, " ") {
				c.code(&cm, l, base)
			} else if base == "screen" {
				_, pos, _ := split(args, "-S -c -t -T")
				if len(pos) > 0 {
					inner(pos, base)
				}
			}
		}
		return
	case "at", "batch":
		cm.Tags = append(cm.Tags, "schedule")
		emit()
		c.shellStdin(&cm, base)
		return
	case "crontab":
		cm.Tags = append(cm.Tags, "schedule")
		emit()
		return
	case "start-stop-daemon":
		for i, a := range args {
			if (a.S == "-x" || a.S == "--exec" || a.S == "-a") && i+1 < len(args) {
				emit()
				rest := []Field{args[i+1]}
				for j, b := range args {
					if b.S == "--" {
						rest = append(rest, args[j+1:]...)
					}
				}
				inner(rest, base)
				return
			}
		}
		emit()
		return
	case "ssh":
		c.ssh(&cm, args, emit, inner)
		return
	case "docker", "podman", "kubectl":
		cm.Tags = append(cm.Tags, "container")
		_, pos, _ := split(args, "-n --namespace -H --context")
		if len(pos) > 0 {
			cm.Sub = pos[0].S
		}
		for _, a := range args {
			if a.S == "--privileged" || strings.Contains(a.S, "docker.sock") || strings.HasPrefix(a.S, "--cap-add") || a.S == "--pid=host" || strings.HasPrefix(a.S, "/:/") {
				cm.Tags = append(cm.Tags, "container-escape")
			}
		}
		emit()
		if cm.Sub == "exec" || cm.Sub == "run" {
			for i, a := range args {
				b := path.Base(a.S)
				if i > 0 && (b == "rm" || shells[b]) && a.S != "--rm" {
					inner(args[i:], base+" "+cm.Sub)
					break
				}
			}
		}
		return
	case "xargs":
		_, pos, _ := splitStop(args, "-I -i -n -P -L -d -E -s -a --arg-file --delimiter --max-args --max-procs --replace")
		cm.Tags = append(cm.Tags, "wrapper")
		emit()
		if len(pos) == 0 {
			pos = []Field{{S: "echo"}}
		}
		n := c.clone()
		n.wrap = append(n.wrap, "xargs")
		n.via = "xargs"
		a := append([]Field(nil), pos...)
		t := c.stdin
		if t.Known && t.Text != "" {
			repl := ""
			for i, x := range args {
				if x.S == "-I" && i+1 < len(args) {
					repl = args[i+1].S
				} else if strings.HasPrefix(x.S, "-I") && len(x.S) > 2 {
					repl = x.S[2:]
				}
			}
			nul := false
			for _, x := range args {
				nul = nul || x.S == "-0" || x.S == "--null"
			}
			if nul {
				for _, w := range strings.Split(strings.Trim(t.Text, "\x00"), "\x00") {
					a = append(a, Field{S: w})
				}
				n.stdin = Stdin{}
				n.call(a, nil, nil, nil)
				return
			}
			tx := strings.TrimRight(strings.ReplaceAll(t.Text, "\x00", "\n"), "\n")
			if repl != "" {
				for i := range a {
					a[i].S = strings.ReplaceAll(a[i].S, repl, tx)
				}
			} else {
				for _, w := range strings.Fields(tx) {
					a = append(a, Field{S: w})
				}
			}
		} else if hasRepl(args, a) {
			r := replOf(args)
			for i := range a {
				if strings.Contains(a[i].S, r) {
					a[i].Dyn = true
					a[i].S = strings.ReplaceAll(a[i].S, r, "")
				}
			}
		} else if r := findRoot(t); r != "" && path.Base(a[0].S) == "rm" {
			a = append(a, Field{S: r})
		} else if listing(t.From) && len(a) > 0 && path.Base(a[0].S) != "rm" && !shells[path.Base(a[0].S)] {
			a = append(a, Field{S: "./listed-name"})
		} else {
			a = append(a, Field{S: "", Dyn: true})
		}
		n.stdin = Stdin{}
		n.call(a, nil, nil, nil)
		return
	case "find", "fd":
		c.find(&cm, args, emit)
		return
	case "eval":
		emit()
		c.code(&cm, joinF(args), "eval")
		return
	case "source", ".":
		if len(procs) > 0 {
			in := c.procOut(procs[0])
			cm.Stdin = in
			emit()
			c.runText(in, "source", &cm)
			return
		}
		if len(args) > 0 && (args[0].S == "/dev/stdin" || args[0].S == "/dev/fd/0") {
			emit()
			c.shellStdin(&cm, base)
			return
		}
		if len(args) > 0 {
			cm.CodeFile = args[0].S
		}
		emit()
		return
	case "trap":
		emit()
		for _, a := range args {
			if !strings.HasPrefix(a.S, "-") {
				if a.S != "" {
					c.code(&cm, a, "trap")
				}
				break
			}
		}
		return
	case "alias":
		for _, a := range args {
			if n, v, ok := strings.Cut(a.S, "="); ok {
				c.alias[n] = true
				c.code(&cm, Field{S: v, Dyn: a.Dyn}, "alias")
				c.dyn("alias definition")
			}
		}
		emit()
		return
	case "cd", "pushd":
		t := Field{S: c.cfg.Home}
		for _, a := range args {
			if !strings.HasPrefix(a.S, "-") || a.S == "-" {
				t = a
				break
			}
		}
		emit()
		if t.Dyn || t.Glob || t.S == "-" {
			c.cwdUnk = true
			if gitTop(t) {
				c.cwdUnk = false
			}
		} else {
			c.cwd = c.abs(t.S)
			c.cwdUnk = false
		}
		c.vars["PWD"] = value{v: expand.Variable{Set: true, Kind: expand.String, Str: c.cwd}, unk: c.cwdUnk}
		return
	case "popd":
		emit()
		c.cwd = c.cfg.Cwd
		return
	case "set":
		emit()
		for i, a := range args {
			if a.S == "--" {
				c.setPos(args[i:], 1)
				return
			}
		}
		if len(args) > 0 && !strings.HasPrefix(args[0].S, "-") && !strings.HasPrefix(args[0].S, "+") {
			c.setPos(args, 0)
		}
		return
	case "read", "mapfile", "readarray":
		emit()
		if base != "read" && hasFlag(cm.Argv, "-C") {
			c.dyn("mapfile callback is evaluated")
		}
		for _, a := range args {
			if !strings.HasPrefix(a.S, "-") {
				v := value{unk: true, v: expand.Variable{Set: true, Kind: expand.String}}
				if c.stdin.Known && (c.stdin.Kind == "text" || c.stdin.Kind == "heredoc") {
					v.v.Str = strings.TrimRight(c.stdin.Text, "\n")
				}
				c.vars[a.S] = v
				if strings.ContainsAny(a.S, "[") {
					c.dyn("subscript in a name")
				}
			}
		}
		return
	case "printf":
		if len(args) > 2 && args[0].S == "-v" {
			t, _ := fold("printf", strs(args[2:]), "", false, c)
			c.vars[args[1].S] = value{unk: true, v: expand.Variable{Set: true, Kind: expand.String, Str: t}}
		}
		emit()
		return
	case "hash":
		fl, pos, vals := split(args, "-p")
		if v, ok := vals["-p"]; ok && len(pos) > 0 {
			c.hash[pos[0].S] = v.S
			cm.Tags = append(cm.Tags, "hash-poison")
		}
		_ = fl
		emit()
		return
	case "enable":
		cm.Tags = append(cm.Tags, "shell-state")
		emit()
		return
	case "compgen", "complete", "bind", "fc", "history", "shopt":
		cm.Tags = append(cm.Tags, "shell-state")
		if base == "history" && len(args) > 1 && (args[0].S == "-a" || args[0].S == "-w" || args[0].S == "-n") {
			cm.Writes = append(cm.Writes, c.path(args[1], "history"))
		}
		if base == "shopt" && hasFlag(cm.Argv, "expand_aliases") {
			c.dyn("aliases enabled")
		}
		emit()
		return
	case "unset":
		emit()
		for _, a := range args {
			delete(c.funcs, a.S)
		}
		return
	case "export", "declare", "typeset", "local", "readonly":
		if base == "export" && (len(args) == 0 || hasFlag(cm.Argv, "-p")) {
			cm.Tags = append(cm.Tags, "dump-env")
		}
		emit()
		return
	}
	if strings.HasPrefix(base, "ld-linux") || strings.HasPrefix(base, "ld-musl") {
		emit()
		_, pos, _ := splitStop(args, "--library-path --preload --argv0")
		if len(pos) > 0 {
			inner(pos, base)
		}
		return
	}
	if shells[base] {
		c.shell(&cm, args, emit, procs)
		return
	}
	c.effects(&cm, base, args, procs)
	emit()
	for _, e := range cm.ExecFlags {
		_ = e
	}
}

func replOf(args []Field) string {
	for i, x := range args {
		if x.S == "-I" && i+1 < len(args) {
			return args[i+1].S
		}
		if strings.HasPrefix(x.S, "-I") && len(x.S) > 2 {
			return x.S[2:]
		}
	}
	return ""
}
func hasRepl(args, a []Field) bool {
	r := replOf(args)
	if r == "" {
		return false
	}
	for _, x := range a {
		if strings.Contains(x.S, r) {
			return true
		}
	}
	return false
}
func findRoot(t Stdin) string {
	if len(t.Roots) == 1 {
		return t.Roots[0]
	}
	return ""
}

// listing: names that come from these programs are names inside the current tree
func listing(from []string) bool {
	if len(from) == 0 {
		return false
	}
	ok := set("ls git find fd rg grep sort head tail uniq tree")
	for _, x := range from {
		if !ok[x] {
			return false
		}
	}
	return true
}
func strs(f []Field) (o []string) {
	for _, x := range f {
		o = append(o, x.S)
	}
	return
}
func gitTop(f Field) bool { return false }
func joinF(f []Field) Field {
	o := Field{}
	var l []string
	for _, x := range f {
		l = append(l, x.S)
		o.Dyn = o.Dyn || x.Dyn
	}
	o.S = strings.Join(l, " ")
	return o
}
func splitStop(args []Field, valOpts string) ([]string, []Field, map[string]Field) {
	v := set(valOpts)
	vals := map[string]Field{}
	var fl []string
	for i := 0; i < len(args); i++ {
		s := args[i].S
		if s == "--" {
			return fl, args[i+1:], vals
		}
		if strings.HasPrefix(s, "-") && len(s) > 1 {
			fl = append(fl, s)
			if v[s] && i+1 < len(args) {
				i++
				vals[s] = args[i]
			}
			continue
		}
		return fl, args[i:], vals
	}
	return fl, nil, vals
}

// code analyses a string as shell code.
func (c *ctx) code(cm *Command, f Field, via string) {
	if f.Dyn {
		c.dyn("dynamic shell code in " + via)
		if strings.TrimSpace(f.S) == "" {
			return
		}
	}
	n := c.clone()
	n.depth++
	n.via = via
	if via != "eval" && via != "trap" {
		n.funcs = map[string]*syntax.Stmt{}
	}
	if strings.HasSuffix(via, " stdin") {
		n.stdin = Stdin{Kind: "script"} // commands of the script share the descriptor it is read from
	}
	n.script(f.S, via)
}

// minOperands is the number of operands with which a program leaves its standard input alone; -1 = never.
var minOperands = map[string]int{"read": -1, "mapfile": -1, "readarray": -1, "select": -1, "tr": -1, "tee": -1, "xargs": -1, "exec": 1, "head": 1, "tail": 1, "cat": 1, "wc": 1, "sort": 1, "uniq": 1, "cut": 1, "nl": 1, "rev": 1, "tac": 1, "fold": 1, "fmt": 1, "od": 1, "xxd": 1, "hexdump": 1, "strings": 1, "base64": 1, "base32": 1, "less": 1, "more": 1, "column": 1, "paste": 1, "grep": 2, "egrep": 2, "fgrep": 2, "sed": 2, "awk": 2, "gawk": 2, "jq": 2, "yq": 2, "dd": -1, "bash": 1, "sh": 1, "dash": 1, "python": 1, "python3": 1, "node": 1, "perl": 1, "ruby": 1, "gzip": 1, "gunzip": 1, "xz": 1, "md5sum": 1, "sha1sum": 1, "sha256sum": 1, "sha512sum": 1, "sum": 1, "openssl": -1, "split": 1, "tar": 2, "patch": -1, "diff": 2, "cmp": 2, "comm": 2, "join": 2}

func readsStdin(bin string, args []Field) bool {
	need, ok := minOperands[bin]
	if !ok {
		return false
	}
	n := 0
	flag := false
	for _, a := range args {
		if a.S == "-" || a.S == "/dev/stdin" || a.S == "/dev/fd/0" {
			return true
		}
		if !strings.HasPrefix(a.S, "-") && !flag {
			n++ // the word after an option may be its value
		}
		flag = strings.HasPrefix(a.S, "-") && len(a.S) == 2
		if (bin == "grep" || bin == "egrep" || bin == "fgrep") && len(a.S) > 1 && a.S[0] == '-' && strings.ContainsAny(a.S, "rR") {
			n++
		}
		if bin == "dd" && strings.HasPrefix(a.S, "if=") {
			return false
		}
	}
	return need < 0 || n < need
}
func (c *ctx) runText(in Stdin, via string, cm *Command) {
	if in.Known {
		c.code(cm, Field{S: in.Text}, via)
		return
	}
	c.dyn("shell code comes from " + in.Kind + " " + in.File + strings.Join(in.From, ","))
}
func (c *ctx) shellStdin(cm *Command, via string) {
	switch {
	case c.stdin.Kind == "" || c.stdin.Kind == "none":
		cm.Tags = append(cm.Tags, "interactive-shell")
		c.dyn("interactive shell")
	case c.stdin.Known:
		c.code(cm, Field{S: c.stdin.Text}, via+" stdin")
	default:
		c.dyn("shell reads code from " + c.stdin.Kind)
		if c.stdin.Text != "" {
			c.code(cm, Field{S: c.stdin.Text}, via+" stdin")
		}
	}
}
func (c *ctx) shell(cm *Command, args []Field, emit func(), procs []*syntax.ProcSubst) {
	i := 0
	cflag := false
	for i < len(args) {
		s := args[i].S
		if args[i].Dyn {
			c.dyn("dynamic shell option")
		}
		if s == "--" {
			i++
			break
		}
		if len(s) > 1 && (s[0] == '-' || s[0] == '+') {
			if strings.HasPrefix(s, "--") {
				if s == "--init-file" || s == "--rcfile" {
					i++
				}
				i++
				continue
			}
			if strings.ContainsAny(s[1:], " \"'/") {
				c.dyn("malformed shell option")
			}
			if strings.Contains(s, "c") && s[0] == '-' {
				cflag = true
			}
			if strings.Contains(s, "i") || strings.Contains(s, "s") {
				cm.Tags = append(cm.Tags, "shell-opt"+s)
			}
			if s == "-o" || s == "-O" || s == "+o" || s == "+O" {
				i++
			}
			i++
			continue
		}
		break
	}
	rest := args[min(i, len(args)):]
	if cflag {
		cm.Tags = append(cm.Tags, "shell-c")
		if len(rest) == 0 || (len(rest) == 1 && rest[0].Dyn && rest[0].S == "") {
			c.dyn("shell payload unknown")
			emit()
			return
		}
		emit()
		n := c.clone()
		n.wrap = append(n.wrap, cm.Binary)
		n.depth++
		if rest[0].Dyn {
			c.dyn("dynamic shell payload")
		}
		n.funcs = map[string]*syntax.Stmt{}
		if len(rest) > 1 {
			n.vars["0"] = value{v: expand.Variable{Set: true, Kind: expand.String, Str: rest[1].S}, unk: rest[1].Dyn}
			n.setPos(rest[1:], 1)
		} else {
			n.setPos(nil, 0)
			n.vars["0"] = value{v: expand.Variable{Set: true, Kind: expand.String, Str: cm.Binary}}
		}
		n.via = cm.Binary + " -c"
		n.script(rest[0].S, n.via)
		return
	}
	if len(rest) > 0 && rest[0].S != "-" && rest[0].S != "/dev/stdin" && rest[0].S != "/dev/fd/0" && !hasFlag(cm.Argv, "-s") {
		if len(procs) > 0 {
			in := c.procOut(procs[0])
			cm.Stdin = in
			cm.Tags = append(cm.Tags, "shell-stdin")
			emit()
			c.runText(in, cm.Binary+" <()", cm)
			return
		}
		cm.CodeFile = rest[0].S
		cm.Reads = append(cm.Reads, c.path(rest[0], "script"))
		emit()
		return
	}
	cm.Tags = append(cm.Tags, "shell-stdin")
	emit()
	c.shellStdin(cm, cm.Binary)
}
func (c *ctx) env2(cm *Command, args []Field, inner func([]Field, string), emit func()) {
	i := 0
	cm.Tags = append(cm.Tags, "wrapper")
	var envs []string
	for i < len(args) {
		s := args[i].S
		switch {
		case s == "--":
			i++
			goto done
		case s == "-u" || s == "--unset" || s == "-P" || s == "-a":
			i += 2
			continue
		case s == "-C" || s == "--chdir":
			if i+1 < len(args) {
				n := *c
				n.cwd = c.abs(args[i+1].S)
				*c = n
			}
			i += 2
			continue
		case s == "-S" || s == "--split-string" || strings.HasPrefix(s, "-S") || strings.HasPrefix(s, "--split-string=") || (strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") && strings.HasSuffix(s, "S")):
			v := Field{}
			if strings.HasPrefix(s, "--split-string=") {
				v = Field{S: s[len("--split-string="):], Dyn: args[i].Dyn}
			} else if strings.HasPrefix(s, "-S") && len(s) > 2 {
				v = Field{S: s[2:], Dyn: args[i].Dyn}
			} else if i+1 < len(args) {
				i++
				v = args[i]
			}
			rest := args[min(i+1, len(args)):]
			w, err := shellWords(v.S)
			if err != nil || v.Dyn {
				c.dyn("env -S string")
			}
			var a []Field
			for _, x := range w {
				a = append(a, Field{S: x})
			}
			emit()
			a = append(a, rest...)
			if len(a) > 0 {
				inner(a, "env -S")
			}
			return
		case strings.HasPrefix(s, "-"):
			i++
			continue
		case strings.Contains(s, "="):
			envs = append(envs, strings.SplitN(s, "=", 2)[0])
			i++
			continue
		}
		break
	}
done:
	cm.Env = append(append([]string(nil), cm.Env...), envs...)
	if i >= len(args) {
		cm.Tags = append(cm.Tags, "dump-env")
		emit()
		return
	}
	emit()
	n := *c
	n.env = append(append([]string(nil), c.env...), envs...)
	n2 := n.clone()
	n2.wrap = append(n2.wrap, "env")
	n2.call(args[i:], nil, nil, nil)
}
func shellWords(s string) ([]string, error) {
	f, err := parserPool().Parse(strings.NewReader(s), "")
	if err != nil || len(f.Stmts) != 1 {
		return strings.Fields(s), err
	}
	ce, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return strings.Fields(s), nil
	}
	var out []string
	for _, w := range ce.Args {
		l, err := expand.Fields(&expand.Config{}, w)
		if err != nil {
			return nil, err
		}
		out = append(out, l...)
	}
	return out, nil
}
func (c *ctx) ssh(cm *Command, args []Field, emit func(), inner func([]Field, string)) {
	cm.Tags = append(cm.Tags, "remote")
	_, pos, _ := splitStop(args, "-o -i -p -l -F -L -R -D -J -b -c -E -e -I -m -O -Q -S -W -w")
	for i, a := range args {
		if a.S == "-o" && i+1 < len(args) {
			k, v, _ := strings.Cut(args[i+1].S, "=")
			if strings.EqualFold(k, "ProxyCommand") || strings.EqualFold(k, "LocalCommand") || strings.EqualFold(k, "KnownHostsCommand") || strings.EqualFold(k, "ProxyUseFdpass") {
				cm.ExecFlags = append(cm.ExecFlags, "-o "+k)
				defer c.code(cm, Field{S: v, Dyn: args[i+1].Dyn}, "ssh "+k)
			}
		}
		if a.S == "-F" {
			cm.ExecFlags = append(cm.ExecFlags, "-F")
		}
	}
	emit()
	if len(pos) > 1 {
		n := c.clone()
		n.wrap = append(n.wrap, "ssh")
		n.depth++
		n.via = "ssh"
		n.script(joinF(pos[1:]).S, "ssh")
	}
}
func (c *ctx) find(cm *Command, args []Field, emit func()) {
	var roots []Field
	i := 0
	if cm.Binary == "find" {
		for i < len(args) && !strings.HasPrefix(args[i].S, "-") && args[i].S != "(" && args[i].S != "!" {
			roots = append(roots, args[i])
			i++
		}
	} else {
		_, pos, _ := splitStop(args, "-e -E -t -d -S")
		for j, p := range pos {
			if j > 0 && !strings.HasPrefix(p.S, "-") {
				roots = append(roots, p)
			} else if j > 0 {
				break
			}
		}
	}
	if len(roots) == 0 {
		roots = []Field{{S: "."}}
	}
	filtered := false
	type ex struct {
		a  []Field
		op string
	}
	var exs []ex
	del := false
	for ; i < len(args); i++ {
		s := args[i].S
		switch s {
		case "-name", "-iname", "-path", "-regex", "-mtime", "-newer", "-size", "-empty", "-user", "-type", "-ipath", "-mmin", "-perm":
			if s != "-type" && !(s == "-name" && i+1 < len(args) && args[i+1].S == "*") {
				filtered = true
			}
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			j := i + 1
			var a []Field
			for j < len(args) && args[j].S != ";" && !(args[j].S == "+" && j > i+1 && args[j-1].S == "{}") {
				a = append(a, args[j])
				j++
			}
			exs = append(exs, ex{a, s})
			cm.Tags = append(cm.Tags, "carrier")
			i = j
		case "-delete":
			del = true
			cm.Tags = append(cm.Tags, "find-delete")
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(args) {
				cm.Writes = append(cm.Writes, c.path(args[i+1], s))
			}
		case "-files0-from":
			if i+1 < len(args) {
				cm.Reads = append(cm.Reads, c.path(args[i+1], s))
			}
		}
	}
	for _, r := range roots {
		p := c.path(r, "root")
		cm.Reads = append(cm.Reads, p)
		if del {
			if filtered && p.Class == "workspace_root" {
				p.Class = "workspace"
			}
			cm.Deletes = append(cm.Deletes, p)
		}
	}
	cm.Recursive = true
	emit()
	for _, e := range exs {
		for _, r := range roots {
			var a []Field
			rep := false
			for _, x := range e.a {
				if strings.Contains(x.S, "{}") {
					rep = true
					y := x
					if filtered && c.class(r) == "workspace_root" {
						y.S = strings.ReplaceAll(x.S, "{}", strings.TrimSuffix(r.S, "/")+"/found")
					} else {
						y.S = strings.ReplaceAll(x.S, "{}", r.S)
					}
					y.Dyn = false
					a = append(a, y)
				} else {
					a = append(a, x)
				}
			}
			if !rep && cm.Binary == "fd" {
				a = append(a, r)
			}
			if len(a) == 0 {
				continue
			}
			n := c.clone()
			n.wrap = append(n.wrap, cm.Binary)
			n.via = cm.Binary + " " + e.op
			if strings.Contains(e.op, "dir") {
				n.cwd = c.abs(r.S)
			}
			n.call(a, nil, nil, nil)
			if rep && a[0].S == "rm" {
				c.f.Commands[len(c.f.Commands)-1].Tags = append(c.f.Commands[len(c.f.Commands)-1].Tags, "bulk-delete")
			}
		}
	}
}

// Known reports whether a program has an entry.
func Known(b string) bool { return allowBins[b] || b == "" }
