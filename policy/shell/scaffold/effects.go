package scaffold

import (
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var gitVal = "-C -c --config-env --exec-path --git-dir --namespace --super-prefix --work-tree"
var gitExecKeys = regexp.MustCompile(`(?i)^(alias\.|core\.(pager|sshcommand|fsmonitor|hookspath|editor|askpass|gitproxy|attributesfile)|pager\.|diff\..*(external|textconv|command)|diff\.external|difftool\.|mergetool\.|merge\..*driver|filter\..*\.(clean|smudge|process)|credential|gpg\.|sequence\.editor|protocol\.ext|remote\..*\.(uploadpack|receivepack|proxy)|ssh\.|browser\.|man\.|help\.|interactive\.difffilter|url\.|include)`)
var gitRead = set("status log diff show branch ls-files blame grep rev-parse remote tag describe shortlog stash cat-file ls-tree merge-base rev-list config add commit checkout switch restore fetch pull clone init mv rm reflog worktree help version --version format-patch name-rev var count-objects fsck check-ignore check-attr notes clean push reset rebase bisect submodule filter-branch difftool archive apply ls-remote cherry-pick merge am")

func (c *ctx) pathsOf(fs []Field, via string) (out []Path) {
	for _, f := range fs {
		out = append(out, c.path(f, via))
	}
	return
}

func (c *ctx) effects(cm *Command, base string, args []Field, procs []*syntax.ProcSubst) {
	tag := func(t ...string) { cm.Tags = append(cm.Tags, t...) }
	exec := func(flag string, f Field) {
		cm.ExecFlags = append(cm.ExecFlags, flag)
		if f.S != "" || f.Dyn {
			c.code(cm, f, base+" "+flag)
		}
	}
	val := func(i int) Field {
		if i+1 < len(args) {
			return args[i+1]
		}
		return Field{}
	}
	rd := func(f Field) { cm.Reads = append(cm.Reads, c.path(f, "arg")) }
	wr := func(f Field) { cm.Writes = append(cm.Writes, c.path(f, "arg")) }
	del := func(f Field) { cm.Deletes = append(cm.Deletes, c.path(f, "arg")) }
	if cm.PathClass == "workspace" {
		if c.f.Created[cm.Path] {
			tag("runs-created-file")
		}
		tag("workspace-program")
	}
	switch base {
	case "rm", "unlink", "rmdir", "shred", "srm", "trash":
		fl, pos, _ := split(args, "-n --iterations -s --size")
		cm.Flags = fl
		cm.Recursive = hasFlag(fl, "-r", "-R", "-d") || longIs(fl, "--recursive", 4)
		for _, p := range pos {
			del(p)
		}
		if base == "rm" {
			for i := range cm.Deletes {
				d := &cm.Deletes[i]
				if strings.HasSuffix(d.Path, "/.git") || d.Path == ".git" {
					d.Class = "vcs"
				}
			}
		}
		return
	case "mv":
		fl, pos, vals := split(args, "-t --target-directory -S --suffix")
		cm.Flags = fl
		for i, p := range pos {
			if i < len(pos)-1 || vals["-t"].S != "" {
				del(p)
				rd(p)
			} else {
				wr(p)
			}
		}
		if t, ok := vals["-t"]; ok {
			wr(t)
		}
	case "cp", "install", "rsync", "scp":
		fl, pos, vals := split(args, "-t --target-directory -S --suffix -m --mode -o -g -e --rsh --exclude --include -P -i -F")
		cm.Flags = fl
		for i, p := range pos {
			if i < len(pos)-1 || vals["-t"].S != "" {
				rd(p)
				if len(pos) == 2 {
					c.f.Created[c.abs(pos[1].S)] = true
				}
			} else if !strings.Contains(p.S, ":") {
				wr(p)
			} else {
				tag("send")
			}
		}
		if t, ok := vals["-t"]; ok {
			wr(t)
		}
		if base == "rsync" && hasFlag(fl, "--delete", "--remove-source-files", "--del") && len(pos) > 0 {
			del(pos[len(pos)-1])
		}
		if base == "rsync" || base == "scp" {
			tag("remote")
			for _, k := range []string{"-e", "--rsh", "-S", "-F"} {
				if v, ok := vals[k]; ok {
					exec(k, v)
				}
			}
		}
		if base == "install" && vals["-m"].S != "" && len(vals["-m"].S) == 4 {
			tag("setuid")
		}
	case "ln":
		_, pos, _ := split(args, "-t -S")
		if len(pos) == 2 {
			wr(pos[1])
			t := c.path(pos[0], "link-target")
			cm.Reads = append(cm.Reads, t)
			c.f.Created[c.abs(pos[1].S)] = true
			c.f.Relinked[c.abs(pos[1].S)] = c.abs(pos[0].S)
		}
	case "touch", "mkdir", "truncate", "tee", "mktemp", "mknod", "mkfifo":
		_, pos, _ := split(args, "-s --size -d -t -r -m --mode --date --reference")
		for _, p := range pos {
			wr(p)
			if base == "tee" {
				c.f.Created[c.abs(p.S)] = true
			}
		}
		return
	case "chmod", "chown", "chgrp", "chattr":
		fl, pos, _ := split(args, "--reference --from")
		cm.Flags = fl
		cm.Recursive = hasFlag(fl, "-R", "--recursive")
		for i, p := range pos {
			if i == 0 {
				if base == "chmod" && (strings.Contains(p.S, "s") || (len(p.S) == 4 && p.S[0] >= '2' && p.S[0] <= '7')) {
					tag("setuid")
				}
				continue
			}
			wr(p)
		}
		return
	case "dd":
		for _, a := range args {
			k, v, _ := strings.Cut(a.S, "=")
			switch k {
			case "if":
				rd(Field{S: v, Dyn: a.Dyn})
			case "of":
				wr(Field{S: v, Dyn: a.Dyn})
			}
		}
		return
	case "curl", "wget":
		c.net(cm, base, args, exec)
		return
	case "git":
		c.git(cm, args, exec)
		return
	case "tar", "bsdtar":
		fl, pos, vals := split(args, "-f --file -C --directory -I --use-compress-program --checkpoint-action --to-command --rsh-command -T -X --exclude --transform --xform -g --newer --info-script --new-volume-script -F")
		cm.Flags = fl
		if len(args) > 0 && !strings.HasPrefix(args[0].S, "-") { // old style bundle
			b := args[0].S
			pos = pos[1:]
			for _, ch := range b {
				fl = append(fl, "-"+string(ch))
			}
			for _, ch := range b {
				if ch == 'f' && len(pos) > 0 {
					vals["-f"] = pos[0]
					pos = pos[1:]
				}
				if ch == 'I' && len(pos) > 0 {
					vals["-I"] = pos[0]
					pos = pos[1:]
				}
			}
		}
		create := hasFlag(fl, "-c", "--create", "-r", "-u")
		for _, k := range []string{"-f", "--file"} {
			if v, ok := vals[k]; ok {
				if create {
					wr(v)
				} else {
					rd(v)
				}
				if strings.Contains(v.S, ":") {
					tag("remote")
				}
			}
		}
		dir := Field{S: "."}
		if v, ok := vals["-C"]; ok {
			dir = v
		}
		if v, ok := vals["--directory"]; ok {
			dir = v
		}
		if create {
			for _, p := range pos {
				rd(p)
			}
		} else if hasFlag(fl, "-x", "--extract", "--get") {
			p := c.path(dir, "extract")
			if p.Class == "workspace_root" {
				p.Class = "workspace"
			}
			cm.Writes = append(cm.Writes, p)
			if hasFlag(fl, "-P", "--absolute-names") {
				tag("absolute-extract")
			}
		}
		for _, k := range []string{"-I", "--use-compress-program", "--to-command", "--rsh-command", "--info-script", "--new-volume-script", "-F"} {
			if v, ok := vals[k]; ok {
				exec(k, v)
			}
		}
		for i, a := range args {
			if strings.HasPrefix(a.S, "--checkpoint-action=") {
				exec("--checkpoint-action", Field{S: strings.TrimPrefix(strings.TrimPrefix(a.S, "--checkpoint-action="), "exec="), Dyn: a.Dyn})
			}
			_ = i
		}
		if hasFlag(fl, "--remove-files") {
			for _, p := range pos {
				del(p)
			}
		}
		return
	case "zip", "unzip", "gzip", "gunzip", "bzip2", "xz":
		_, pos, vals := split(args, "-TT --unzip-command -d -x -O")
		if v, ok := vals["-TT"]; ok {
			exec("-TT", v)
		}
		for i, a := range args {
			if a.S == "-TT" {
				exec("-TT", val(i))
			}
		}
		for i, p := range pos {
			if i == 0 && base == "zip" {
				wr(p)
			} else {
				rd(p)
			}
		}
		if v, ok := vals["-d"]; ok && base == "unzip" {
			wr(v)
		}
		return
	case "sed":
		c.sed(cm, args)
		return
	case "awk", "gawk", "mawk", "nawk":
		c.awk(cm, args)
		return
	case "kill", "pkill", "killall":
		tag("signal")
		for _, a := range args {
			if a.S == "-1" || a.S == "1" {
				tag("signal-all")
			}
		}
		return
	case "split":
		_, pos, vals := split(args, "--filter -b -l -n -a -C --bytes --lines")
		if v, ok := vals["--filter"]; ok {
			exec("--filter", v)
		}
		for _, p := range pos {
			rd(p)
		}
		return
	case "sort":
		fl, pos, vals := split(args, "-o --output --compress-program --files0-from -T --temporary-directory -k -t -S --random-source --parallel --batch-size")
		cm.Flags = fl
		for i, a := range args {
			n, v, has := strings.Cut(a.S, "=")
			f := Field{S: v, Dyn: a.Dyn}
			if !has {
				f = val(i)
			}
			switch {
			case strings.HasPrefix(n, "--comp") && strings.HasPrefix("--compress-program", n):
				exec("--compress-program", f)
				tag("opaque-exec")
			case strings.HasPrefix(n, "--fil") && strings.HasPrefix("--files0-from", n):
				rd(f)
			case strings.HasPrefix(n, "--out") && strings.HasPrefix("--output", n):
				wr(f)
			}
		}
		if v, ok := vals["-o"]; ok {
			wr(v)
		}
		for _, p := range pos {
			rd(p)
		}
		return
	case "rg", "ag", "ack":
		fl, pos, vals := split(args, "--pre --hostname-bin -e -f -g -t -T -A -B -C -m --glob --type --pager")
		cm.Flags = fl
		for _, k := range []string{"--pre", "--hostname-bin", "--pager"} {
			if v, ok := vals[k]; ok {
				exec(k, v)
				tag("opaque-exec")
			}
		}
		if hasFlag(fl, "-z", "--search-zip") {
			tag("opaque-exec")
		}
		if v, ok := vals["-f"]; ok {
			rd(v)
		}
		for i, p := range pos {
			if i > 0 {
				rd(p)
			}
		}
		return
	case "grep", "egrep", "fgrep":
		_, pos, vals := split(args, "-e -f -A -B -C -m --file --regexp --include --exclude -d -D")
		if v, ok := vals["-f"]; ok {
			rd(v)
		}
		for i, p := range pos {
			if i > 0 || vals["-e"].S != "" {
				rd(p)
			}
		}
		return
	case "man", "help", "info":
		fl, _, vals := split(args, "-P --pager -H --html -C -M -l")
		for i, a := range args {
			if strings.HasPrefix(a.S, "--html") || strings.HasPrefix(a.S, "-H") || a.S == "-P" || strings.HasPrefix(a.S, "--pager") || a.S == "-l" {
				cm.ExecFlags = append(cm.ExecFlags, a.S)
				tag("opaque-exec")
			}
			_ = i
		}
		_, _ = fl, vals
		return
	case "less", "more":
		for _, a := range args {
			if strings.HasPrefix(a.S, "+") || strings.HasPrefix(a.S, "-k") || strings.HasPrefix(a.S, "-K") || strings.HasPrefix(a.S, "--lesskey") {
				tag("opaque-exec")
			}
		}
	case "go":
		_, pos, vals := split(args, "-toolexec -exec -vettool -C -o -run -ldflags -tags -overlay -modfile -w")
		if len(pos) > 0 {
			cm.Sub = pos[0].S
		}
		for _, k := range []string{"-toolexec", "-exec"} {
			for i, a := range args {
				n, v, has := strings.Cut(a.S, "=")
				if n == k || n == "-"+k {
					f := Field{S: v}
					if !has {
						f = val(i)
					}
					exec(k, f)
				}
			}
		}
		for _, a := range args {
			if strings.HasPrefix(a.S, "-vettool") || strings.HasPrefix(a.S, "-overlay") {
				tag("opaque-exec")
			}
		}
		if cm.Sub == "env" || cm.Sub == "install" || cm.Sub == "get" || cm.Sub == "generate" {
			tag("config-or-install")
		}
		for i, a := range args {
			if a.S == "-o" {
				wr(val(i))
				c.f.Created[c.abs(val(i).S)] = false
			}
		}
		if cm.Sub == "run" || cm.Sub == "test" || cm.Sub == "build" {
			tag("workspace-code")
			for _, p := range pos[1:] {
				if strings.HasPrefix(p.S, "/") && !strings.HasPrefix(p.S, c.cfg.Cwd) {
					tag("foreign-code")
				}
			}
		}
		_ = vals
		return
	case "gcc", "cc", "g++", "clang", "c89", "c99":
		for i, a := range args {
			if a.S == "-wrapper" {
				v := strings.Split(val(i).S, ",")
				n := c.clone()
				n.wrap = append(n.wrap, base)
				n.depth++
				var f []Field
				for _, x := range v {
					f = append(f, Field{S: x})
				}
				cm.ExecFlags = append(cm.ExecFlags, "-wrapper")
				n.call(f, nil, nil, nil)
			}
		}
		return
	case "npm", "npx", "pnpm", "yarn", "bunx":
		_, pos, vals := split(args, "-c --call --script-shell --prefix -w --workspace -p --package --registry")
		if len(pos) > 0 {
			cm.Sub = pos[0].S
		}
		for i, a := range args {
			if a.S == "-c" || a.S == "--call" {
				exec(a.S, val(i))
			}
			if strings.HasPrefix(a.S, "--script-shell") || strings.HasPrefix(a.S, "--registry") {
				tag("opaque-exec")
			}
		}
		_ = vals
		switch cm.Sub {
		case "publish", "unpublish", "login", "adduser", "owner", "deprecate", "dist-tag":
			tag("publish")
		case "config", "set":
			tag("config-or-install")
		case "install", "i", "add":
			if len(pos) > 1 {
				tag("config-or-install")
			}
		case "exec", "x", "dlx":
			tag("config-or-install")
		}
		if base == "npx" {
			tag("config-or-install")
		}
		tag("workspace-code")
		return
	case "pip", "pip3":
		if len(args) > 0 && args[0].S == "install" && !hasFlag(cm.Argv, "-r") {
			tag("config-or-install")
		}
		for _, a := range args {
			if strings.HasPrefix(a.S, "--index-url") || strings.HasPrefix(a.S, "--extra-index") || a.S == "-i" || a.S == "-e" {
				tag("opaque-exec")
			}
			if u, ok := c.url(a, "GET"); ok {
				cm.URLs = append(cm.URLs, u)
			}
		}
		return
	case "cargo":
		if len(args) > 0 && (args[0].S == "install" || args[0].S == "publish") {
			tag("config-or-install")
		}
		for _, a := range args {
			if strings.HasPrefix(a.S, "--config") {
				tag("opaque-exec")
			}
		}
		tag("workspace-code")
		return
	case "make", "gmake", "cmake", "ninja", "mvn", "gradle", "gradlew", "rake", "just":
		tag("workspace-code")
		for i, a := range args {
			if strings.HasPrefix(a.S, "--eval") || strings.HasPrefix(a.S, "SHELL=") {
				tag("opaque-exec")
				if _, v, ok := strings.Cut(a.S, "="); ok && strings.HasPrefix(a.S, "--eval") {
					if _, w, ok := strings.Cut(v, ";"); ok {
						c.code(cm, Field{S: w}, "make --eval")
					}
				}
			}
			if a.S == "-f" || a.S == "-P" || a.S == "-C" {
				p := c.path(val(i), "buildfile")
				cm.Reads = append(cm.Reads, p)
				if a.S != "-C" && !within(c.abs(val(i).S), c.cfg.Cwd) {
					tag("foreign-code")
				}
			}
		}
		return
	case "env", "printenv":
		if len(args) == 0 {
			tag("dump-env")
		}
		return
	case "systemctl", "loginctl", "service":
		_, pos, _ := split(args, "-H -M -t -p -n --host --machine")
		if len(pos) > 0 {
			cm.Sub = pos[0].S
		}
		tag("service")
		switch cm.Sub {
		case "reboot", "poweroff", "halt", "kexec", "soft-reboot", "suspend", "hibernate", "emergency", "rescue", "isolate", "terminate-user":
			tag("power")
		}
		return
	case "shutdown", "reboot", "halt", "poweroff", "telinit", "rtcwake", "kexec":
		tag("power")
		return
	case "init":
		tag("power")
		return
	case "mkfs", "wipefs", "fdisk", "parted", "sfdisk", "gdisk", "sgdisk", "blkdiscard", "cryptsetup", "mkswap", "umount", "mount", "losetup", "lvremove", "vgremove", "pvremove", "mdadm", "hdparm", "nvme":
		tag("disk")
		for _, a := range args {
			if !strings.HasPrefix(a.S, "-") {
				wr(a)
			}
		}
		return
	case "useradd", "usermod", "userdel", "groupadd", "passwd", "chpasswd", "visudo", "insmod", "modprobe", "rmmod", "sysctl", "iptables", "ip6tables", "nft", "ufw", "setenforce", "setcap", "chsh":
		tag("admin")
		return
	case "nc", "ncat", "netcat", "socat", "telnet":
		tag("raw-socket")
		for i, a := range args {
			if a.S == "-e" || a.S == "-c" || strings.HasPrefix(strings.ToUpper(a.S), "EXEC:") || strings.HasPrefix(strings.ToUpper(a.S), "SYSTEM:") {
				tag("socket-exec")
				_ = i
			}
		}
		return
	case "openclaw", "sidecar":
		tag("self-config")
		return
	case "base64", "base32":
		fl, pos, _ := split(args, "-o --output -w --wrap -i")
		if hasFlag(fl, "-o", "--output") {
			tag("opaque-exec")
		}
		for _, p := range pos {
			rd(p)
		}
		return
	case "jq":
		fl, pos, vals := split(args, "-f --from-file --arg --argjson --slurpfile --rawfile --argfile -L --indent")
		cm.Flags = fl
		if hasFlag(fl, "-f", "--from-file", "-L", "--rawfile", "--slurpfile") {
			tag("opaque-exec")
		}
		_ = vals
		for i, p := range pos {
			if i == 0 && !hasFlag(fl, "-f", "--from-file") {
				if regexp.MustCompile(`\benv\b|\$ENV|\b(import|include)\s+"|input_filename|\$__prog`).MatchString(p.S) {
					tag("opaque-exec")
				}
				continue
			}
			rd(p)
		}
		return
	case "file":
		fl, pos, _ := split(args, "-m --magic-file -f --files-from -P -F")
		if hasFlag(fl, "-m", "--magic-file", "-f", "--files-from", "-C") {
			tag("opaque-exec")
		}
		for _, p := range pos {
			rd(p)
		}
		return
	case "date":
		for i, a := range args {
			if a.S == "-f" || a.S == "-r" {
				rd(val(i))
			}
			if a.S == "-s" || strings.HasPrefix(a.S, "--set") {
				tag("admin")
			}
		}
		return
	case "patch":
		_, pos, vals := split(args, "-i --input -d --directory -o --output -p -D")
		for _, v := range vals {
			if strings.Contains(v.S, "/") {
				wr(v)
			}
		}
		for _, p := range pos {
			wr(p)
		}
		return
	case "openssl":
		for _, a := range args {
			if a.S == "-engine" || a.S == "-provider" || a.S == "-config" || a.S == "s_client" || a.S == "s_server" {
				tag("opaque-exec")
			}
		}
		return
	case "wc":
		for i, a := range args {
			n, v, has := strings.Cut(a.S, "=")
			if strings.HasPrefix(n, "--files0-f") {
				f := Field{S: v}
				if !has {
					f = val(i)
				}
				rd(f)
			}
		}
	case "vim", "vi", "ex", "view", "nano", "emacs", "ed":
		tag("editor")
		for i, a := range args {
			t := strings.TrimPrefix(a.S, "+")
			if (a.S == "-c" || strings.HasPrefix(a.S, "-sc") || a.S == "--cmd") && i+1 < len(args) {
				t = args[i+1].S
			}
			if j := strings.Index(t, "!"); j >= 0 && (strings.HasPrefix(a.S, "+") || a.S == "-c" || strings.HasPrefix(a.S, "-sc")) {
				cm.InlineCode = true
				c.code(cm, Field{S: t[j+1:]}, base+" !")
			}
		}
		if base == "emacs" || base == "ed" {
			cm.InlineCode = true
		}
		return
	}
	if strings.HasPrefix(base, "mkfs.") {
		tag("disk")
		return
	}
	if fl, ok := interp[versionless(base)]; ok {
		v := set(fl)
		for i, a := range args {
			s := a.S
			if s == "--" {
				break
			}
			hit := v[s]
			if !hit && strings.HasPrefix(s, "--") {
				n, _, _ := strings.Cut(s, "=")
				hit = v[n]
			}
			if !hit && len(s) > 1 && s[0] == '-' && s[1] != '-' {
				for k := range v {
					if len(k) == 2 && strings.Contains(s[1:], k[1:]) && versionless(base) != "sqlite3" {
						hit = true
					}
				}
			}
			if hit {
				cm.InlineCode = true
			}
			if versionless(base) == "python3" || versionless(base) == "python" {
				if s == "-m" {
					cm.Sub = val(i).S
					switch cm.Sub {
					case "pytest", "unittest", "venv", "json.tool", "pip", "compileall", "black", "mypy", "ruff":
						hit = true
					default:
						cm.InlineCode = true
					}
				}
				if s == "-i" {
					tag("interactive-shell")
					c.dyn("interactive interpreter")
				}
			}
			if hit {
				break
			}
		}
		_, pos, _ := split(args, "-m -W -X -I -r --require -c -e")
		if !cm.InlineCode && cm.Sub == "" {
			if len(procs) > 0 {
				cm.InlineCode = true
			} else if len(pos) == 0 && !hasFlag(cm.Argv, "--version", "-V", "-v", "--help") {
				cm.InlineCode = true // reads code from stdin
			} else if len(pos) > 0 {
				cm.CodeFile = pos[0].S
				if pos[0].S == "-" || pos[0].S == "/dev/stdin" {
					cm.InlineCode = true
				}
				if base == "sqlite3" || base == "psql" || base == "mysql" || base == "dc" || base == "m4" || base == "bc" || base == "expect" || base == "jshell" {
					cm.InlineCode = true
				}
				if base != "jq" && !cm.InlineCode {
					tag("workspace-code")
					p := c.path(pos[0], "script")
					cm.Reads = append(cm.Reads, p)
					if p.Class != "workspace" || within(c.abs(pos[0].S), "/tmp") {
						tag("foreign-code")
					}
				}
			}
		}
		return
	}
	if readers[base] {
		_, pos, _ := split(args, "-n -c -d -f -k -t -w -o -A -B -C -m -L -I -s -e -i -F -N -j")
		for _, p := range pos {
			rd(p)
		}
	}
}
func versionless(b string) string {
	return regexp.MustCompile(`[0-9]+\.[0-9.]+$`).ReplaceAllString(b, "3")
}

func (c *ctx) sed(cm *Command, args []Field) {
	fl, pos, vals := split(args, "-e --expression -f --file -l -s_")
	inplace := false
	for _, a := range args {
		if strings.HasPrefix(a.S, "-i") || strings.HasPrefix(a.S, "--in-place") || (len(a.S) > 1 && a.S[0] == '-' && a.S[1] != '-' && strings.HasSuffix(a.S, "i") && !strings.ContainsAny(a.S, "ef")) {
			inplace = true
		}
	}
	cm.Flags = fl
	scripts := []Field{}
	for _, k := range []string{"-e", "--expression"} {
		if v, ok := vals[k]; ok {
			scripts = append(scripts, v)
		}
	}
	if hasFlag(fl, "-f", "--file") {
		cm.Tags = append(cm.Tags, "opaque-exec")
	}
	if len(scripts) == 0 && !hasFlag(fl, "-f", "--file") && len(pos) > 0 {
		scripts = append(scripts, pos[0])
		pos = pos[1:]
	}
	for _, s := range scripts {
		if sedExec(s.S) {
			cm.InlineCode = true
		}
		for _, w := range sedWrites(s.S) {
			cm.Writes = append(cm.Writes, c.path(Field{S: w}, "sed w"))
			cm.InlineCode = true
		}
		if s.Dyn {
			cm.InlineCode = true
		}
	}
	for _, p := range pos {
		if inplace {
			cm.Writes = append(cm.Writes, c.path(p, "sed -i"))
		}
		cm.Reads = append(cm.Reads, c.path(p, "arg"))
	}
}

// sedExec is a conservative scanner: it walks addresses and commands and reports e, or s///e, or anything it does not know.
func sedExec(s string) bool {
	return sedScan(s, func(cmd byte, rest string) bool { return cmd == 'e' })
}
func sedWrites(s string) (out []string) {
	sedScan(s, func(cmd byte, rest string) bool {
		if cmd == 'w' || cmd == 'W' {
			out = append(out, strings.TrimSpace(rest))
		}
		return false
	})
	return
}
func sedScan(s string, f func(byte, string) bool) bool {
	i := 0
	for i < len(s) {
		ch := s[i]
		switch {
		case ch == ' ' || ch == ';' || ch == '\n' || ch == '{' || ch == '}' || ch == '!' || ch == ',' || ch == '$' || ch == '~' || ch == '+' || (ch >= '0' && ch <= '9'):
			i++
		case ch == '/' || ch == '\\':
			d := byte('/')
			if ch == '\\' && i+1 < len(s) {
				i++
				d = s[i]
			}
			i++
			for i < len(s) && s[i] != d {
				if s[i] == '\\' {
					i++
				}
				i++
			}
			i++
			for i < len(s) && (s[i] == 'I' || s[i] == 'M') {
				i++
			}
		case ch == 's' || ch == 'y':
			if i+1 >= len(s) {
				return f('e', "")
			}
			d := s[i+1]
			i += 2
			for k := 0; k < 2; k++ {
				for i < len(s) && s[i] != d {
					if s[i] == '\\' {
						i++
					}
					i++
				}
				i++
			}
			for i < len(s) && strings.IndexByte("gpIiMmew0123456789", s[i]) >= 0 {
				if s[i] == 'e' && f('e', "") {
					return true
				}
				if s[i] == 'w' {
					f('w', s[i+1:])
					return false
				}
				i++
			}
		case ch == 'e':
			if f('e', s[i+1:]) {
				return true
			}
			i++
		case ch == 'w' || ch == 'W' || ch == 'r' || ch == 'R':
			f(ch, s[i+1:])
			if j := strings.IndexByte(s[i:], '\n'); j >= 0 {
				i += j
			} else {
				return false
			}
		case ch == 'a' || ch == 'i' || ch == 'c' || ch == ':' || ch == 'b' || ch == 't' || ch == 'T' || ch == '#':
			if j := strings.IndexAny(s[i:], "\n;"); j >= 0 {
				i += j
			} else {
				return false
			}
		case strings.IndexByte("dDgGhHlnNpPqQxz=F", ch) >= 0:
			i++
		default:
			return f('e', "") // unknown command: treat as code
		}
	}
	return false
}

var awkCode = regexp.MustCompile(`\bsystem\s*\(|\|\s*getline|getline\s*<|\|\s*"|\|&|@load|@include|\bENVIRON\b|print[^;}]*\|`)
var awkWrite = regexp.MustCompile(`print[^;}]*>>?\s*"([^"]+)"`)

func (c *ctx) awk(cm *Command, args []Field) {
	fl, pos, _ := split(args, "-F -v -f -l -i -e --file --field-separator --assign --load --include --source")
	cm.Flags = fl
	if hasFlag(fl, "-f", "-l", "-i", "--file", "--load", "--include") {
		cm.InlineCode = true
		for _, p := range pos {
			cm.Reads = append(cm.Reads, c.path(p, "arg"))
		}
		return
	}
	if len(pos) > 0 {
		p := pos[0]
		if awkCode.MatchString(p.S) || p.Dyn {
			cm.InlineCode = true
		}
		for _, m := range awkWrite.FindAllStringSubmatch(p.S, -1) {
			cm.Writes = append(cm.Writes, c.path(Field{S: m[1]}, "awk >"))
			cm.InlineCode = true
		}
		for _, f := range pos[1:] {
			cm.Reads = append(cm.Reads, c.path(f, "arg"))
		}
	}
}

func (c *ctx) net(cm *Command, base string, args []Field, exec func(string, Field)) {
	val := func(i int) Field {
		if i+1 < len(args) {
			return args[i+1]
		}
		return Field{}
	}
	method := "GET"
	dir := ""
	for i := 0; i < len(args); i++ {
		a := args[i]
		n, v, has := strings.Cut(a.S, "=")
		f := Field{S: v, Dyn: a.Dyn}
		if !has || !strings.HasPrefix(n, "--") {
			f = val(i)
		}
		short := a.S
		if len(short) > 2 && short[0] == '-' && short[1] != '-' {
			short = "-" + short[len(short)-1:]
		}
		switch {
		case base == "curl" && (n == "--output" || short == "-o"):
			if dir == "" || strings.HasPrefix(f.S, "/") {
				cm.Writes = append(cm.Writes, c.path(f, "output"))
				c.f.Created[c.abs(f.S)] = true
			}
			i++
			continue
		case base == "curl" && n == "--output-dir":
			dir = f.S
			cm.Writes = append(cm.Writes, c.path(f, "output"))
			i++
			continue
		case base == "wget" && (n == "--output-document" || short == "-O"):
			if f.S != "-" {
				cm.Writes = append(cm.Writes, c.path(f, "output"))
				c.f.Created[c.abs(f.S)] = true
			}
			i++
			continue
		case base == "wget" && (short == "-P" || n == "--directory-prefix"):
			cm.Writes = append(cm.Writes, c.path(f, "output"))
			i++
			continue
		case base == "wget" && (n == "--use-askpass" || n == "--execute" || a.S == "-e"):
			cm.Tags = append(cm.Tags, "opaque-exec")
			continue
		case base == "wget" && (n == "--post-file" || n == "--body-file"):
			cm.Reads = append(cm.Reads, c.path(f, "upload"))
			method = "POST"
			continue
		case base == "wget" && (n == "--post-data" || n == "--body-data" || n == "--method"):
			method = "POST"
			continue
		case base == "curl" && (n == "--data" || n == "--data-binary" || n == "--data-raw" || n == "--data-urlencode" || n == "--json" || short == "-d" || short == "-F" || n == "--form"):
			method = "POST"
			t := f.S
			if j := strings.Index(t, "@"); j >= 0 && (j == 0 || short == "-F" || n == "--form") {
				cm.Reads = append(cm.Reads, c.path(Field{S: strings.Split(t[j+1:], ";")[0], Dyn: f.Dyn}, "upload"))
			}
			i++
			continue
		case base == "curl" && (short == "-T" || n == "--upload-file"):
			method = "PUT"
			cm.Reads = append(cm.Reads, c.path(f, "upload"))
			i++
			continue
		case base == "curl" && (short == "-X" || n == "--request"):
			method = f.S
			i++
			continue
		case base == "curl" && (short == "-K" || n == "--config"):
			cm.Tags = append(cm.Tags, "opaque-exec")
			i++
			continue
		case base == "curl" && (short == "-x" || n == "--proxy" || n == "--socks5" || n == "--preproxy"):
			if u, ok := c.url(f, "PROXY"); ok {
				cm.URLs = append(cm.URLs, u)
			}
			i++
			continue
		case base == "curl" && (n == "--resolve" || n == "--connect-to" || n == "--dns-servers" || n == "--interface"):
			cm.Tags = append(cm.Tags, "net-override")
			p := strings.Split(f.S, ":")
			if len(p) > 0 && hostClass(p[len(p)-1]) != "public" {
				cm.URLs = append(cm.URLs, URL{URL: f.S, Class: "private"})
			}
			i++
			continue
		case base == "curl" && (n == "--unix-socket" || n == "--abstract-unix-socket"):
			cm.URLs = append(cm.URLs, URL{URL: f.S, Class: "private"})
			i++
			continue
		case base == "curl" && (n == "--engine" || n == "--netrc-file" || n == "--cookie-jar" || short == "-c" && a.S == "-c"):
			cm.Tags = append(cm.Tags, "opaque-exec")
			i++
			continue
		case base == "curl" && (short == "-H" || n == "--header" || short == "-A" || short == "-u" || n == "--max-time" || n == "--proto" || short == "-m" || short == "-b" || short == "-e" || n == "--retry" || n == "--cacert" || n == "--user-agent"):
			i++
			continue
		case strings.HasPrefix(a.S, "-"):
			continue
		}
		if u, ok := c.url(a, method); ok {
			cm.URLs = append(cm.URLs, u)
		} else if a.S != "" || a.Dyn {
			g := a
			g.S = "http://" + a.S
			u, _ := c.url(g, method)
			cm.URLs = append(cm.URLs, u)
		}
	}
	for i := range cm.URLs {
		if cm.URLs[i].Method == "GET" {
			cm.URLs[i].Method = method
		}
	}
}

func (c *ctx) git(cm *Command, args []Field, exec func(string, Field)) {
	i := 0
	v := set(gitVal)
	cwd := c.cwd
	for i < len(args) && strings.HasPrefix(args[i].S, "-") {
		s := args[i].S
		n, val, has := strings.Cut(s, "=")
		switch {
		case s == "-c" || s == "--config-env":
			if i+1 < len(args) {
				k, val, _ := strings.Cut(args[i+1].S, "=")
				if gitExecKeys.MatchString(k) || s == "--config-env" || args[i+1].Dyn {
					cm.ExecFlags = append(cm.ExecFlags, "-c "+k)
					cm.Tags = append(cm.Tags, "opaque-exec")
					if strings.HasPrefix(val, "!") {
						c.code(cm, Field{S: val[1:]}, "git alias")
					} else if strings.Contains(val, " ") {
						c.code(cm, Field{S: strings.TrimSuffix(val, ";")}, "git -c "+k)
					}
				}
			}
			i += 2
			continue
		case n == "--exec-path" && has, n == "--git-dir", n == "--work-tree", strings.HasPrefix(s, "-c") && len(s) > 2:
			cm.Tags = append(cm.Tags, "opaque-exec")
			_ = val
		case s == "-C" && i+1 < len(args):
			cwd = c.abs(args[i+1].S)
		}
		if v[s] {
			i += 2
		} else {
			i++
		}
	}
	if i < len(args) {
		cm.Sub = args[i].S
		i++
	}
	rest := args[i:]
	cm.Cwd = cwd
	if !gitRead[cm.Sub] {
		cm.Tags = append(cm.Tags, "unlisted-sub")
	}
	for j, a := range rest {
		n, val, has := strings.Cut(a.S, "=")
		f := Field{S: val, Dyn: a.Dyn}
		if !has && j+1 < len(rest) {
			f = rest[j+1]
		}
		switch {
		case strings.HasPrefix(n, "--upload-p") || strings.HasPrefix(n, "--receive-p") || n == "--exec" || (n == "-u" && (cm.Sub == "clone" || cm.Sub == "fetch")) || n == "--extcmd" || (n == "-x" && (cm.Sub == "difftool" || cm.Sub == "rebase")) || n == "--tree-filter" || n == "--index-filter" || n == "--msg-filter" || n == "--env-filter" || n == "--commit-filter" || n == "--open-files-in-pager" || (strings.HasPrefix(a.S, "-O") && cm.Sub == "grep"):
			if cm.Sub == "grep" && strings.HasPrefix(a.S, "-O") {
				f = Field{S: a.S[2:]}
			}
			cm.Tags = append(cm.Tags, "opaque-exec")
			exec(n, f)
		case n == "--ext-diff" || n == "--textconv" || n == "--paginate" || n == "--template" || n == "--unsafe-paths":
			cm.Tags = append(cm.Tags, "opaque-exec")
		case n == "--output" || (n == "-o" && (cm.Sub == "log" || cm.Sub == "diff" || cm.Sub == "format-patch" || cm.Sub == "archive")):
			cm.Writes = append(cm.Writes, c.path(f, "git --output"))
		}
		if strings.HasPrefix(a.S, "ext::") || strings.HasPrefix(a.S, "fd::") {
			cm.Tags = append(cm.Tags, "opaque-exec")
			c.code(cm, Field{S: a.S[5:]}, "git ext::")
		}
		if u, ok := c.url(a, "GIT"); ok {
			cm.URLs = append(cm.URLs, u)
		}
	}
	switch cm.Sub {
	case "push":
		cm.Tags = append(cm.Tags, "publish")
	case "reset":
		if hasFlag(cm.Argv, "--hard") {
			cm.Tags = append(cm.Tags, "discard")
		}
	case "clean":
		if !hasFlag(cm.Argv, "-n", "--dry-run") {
			cm.Tags = append(cm.Tags, "discard")
			p := c.path(Field{S: cwd}, "git clean")
			if p.Class != "workspace_root" && p.Class != "workspace" {
				cm.Deletes = append(cm.Deletes, p)
			}
		}
	case "checkout", "restore":
		if hasFlag(cm.Argv, "--", ".", "-f") && !hasFlag(cm.Argv, "-b") {
			cm.Tags = append(cm.Tags, "discard")
		}
	case "config":
		if !hasFlag(cm.Argv, "--get", "-l", "--list", "--get-all", "--get-regexp") {
			cm.Tags = append(cm.Tags, "config-or-install")
		}
	case "bisect":
		if len(rest) > 1 && rest[0].S == "run" {
			cm.ExecFlags = append(cm.ExecFlags, "bisect run")
			n := c.clone()
			n.wrap = append(n.wrap, "git bisect run")
			n.depth++
			n.call(rest[1:], nil, nil, nil)
		}
	case "submodule":
		if len(rest) > 1 && rest[0].S == "foreach" {
			exec("submodule foreach", joinF(rest[1:]))
		}
	case "difftool":
		cm.Tags = append(cm.Tags, "opaque-exec")
	case "apply", "am":
	}
	if cm.Sub == "rm" {
		for _, a := range rest {
			if !strings.HasPrefix(a.S, "-") && !hasFlag(cm.Argv, "--cached") {
				cm.Deletes = append(cm.Deletes, c.path(a, "git rm"))
			}
		}
	}
	_ = path.Base
}
