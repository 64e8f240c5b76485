package program

import (
	"slices"
	"strings"
)

// wrappers are programs that run another one.
var wrappers = family{
	"sudo": {opts: `
		-[AbBEHKknNPSlv] -u|--user= -g|--group= -C|--close-from= -h|--host= -p|--prompt= -r|--role= -t|--type=
		-T|--command-timeout= -U|--other-user= -D|--chdir=dir -R|--chroot=:namespace -a= -c= -s|--shell -i|--login
		-e|--edit:editor --askpass --background --preserve-env? --set-home --reset-timestamp --remove-timestamp --list
		--non-interactive --preserve-groups --stdin --validate --bell`, style: stop, tags: "wrapper privilege", then: sudo},
	"sudoedit": {opts: "-u=", operands: "change*", tags: "privilege editor", open: true},
	"doas":     {opts: "-[Lns] -a= -C=load -u=", style: stop, tags: "wrapper privilege", then: sudo},
	"pkexec":   {opts: "--user= --disable-internal-agent --keep-cwd", operands: "run", tags: "wrapper privilege"},
	"run0": {opts: `
		-u|--user= -g|--group= -D|--chdir=dir --unit= --property= --setenv=env --background= --machine= --nice=`, operands: "run", tags: "wrapper privilege"},
	"su": {opts: `
		-[flmpP] -c|--command=sh --session-command=sh -s|--shell=exec -g|--group= -G|--supp-group= -w|--whitelist-environment=
		-T --login --fast --preserve-environment --pty`, operands: "skip*", tags: "wrapper privilege", shell: true, then: su},
	"runuser": {opts: `
		-[flmpP] -u|--user= -c|--command=sh --session-command=sh -s|--shell=exec -g|--group= -G|--supp-group= -w= --login
		--preserve-environment --pty`, style: stop, tags: "wrapper privilege", shell: true, then: su},
	"sg newgrp": {opts: "-c=sh", operands: "skip sh", tags: "wrapper privilege", shell: true},
	"setpriv": {opts: `
		-d --reuid= --regid= --groups= --inh-caps= --ambient-caps= --bounding-set= --securebits= --selinux-label=
		--apparmor-profile= --pdeathsig= --ruid= --euid= --rgid= --egid= --clear-groups --keep-groups --init-groups
		--no-new-privs --nnp --dump --list-caps --reset-env --landlock-access= --landlock-rule=`, operands: "run", tags: "wrapper privilege"},
	"capsh": {opts: `
		--caps= --drop= --inh= --user= --uid= --gid= --groups= --chroot= --secbits= --keep= --addamb= --delamb= --shell=exec
		--print --decode= --supports= --forkfor= --killit= --mode=`, tags: "wrapper privilege", then: capsh},
	"unshare": {opts: `
		-[cfrmnuiUpCT] --mount? --uts? --ipc? --net? --pid? --user? --cgroup? --time? --fork --map-user= --map-group=
		--map-users= --map-groups= --map-root-user --map-current-user --map-auto --mount-proc? --propagation= --setgroups=
		-R|--root= -w|--wd=dir -S|--setuid= -G|--setgid= --keep-caps --kill-child? --monotonic= --boottime=
		-l|--load-interp=load`, operands: "run", tags: "wrapper namespace", shell: true},
	"nsenter": {opts: `
		-[amuinpUCTZFe] --all -t|--target= --mount? --uts? --ipc? --net? --pid? --user? --cgroup? --time? -S|--setuid=
		-G|--setgid= --root? --wd? -r? -w? --preserve-credentials --no-fork --follow-context --env --join-cgroup`, operands: "run", tags: "wrapper namespace", shell: true},
	"chroot": {opts: "--userspec= --groups= --skip-chdir", operands: "read run", tags: "wrapper namespace", shell: true},
	"bwrap": {opts: `
		--bind+write --bind-try+write --dev-bind+write --dev-bind-try+write --ro-bind+read --ro-bind-try+read --remount-ro=
		--proc= --dev= --tmpfs= --mqueue= --dir= --file+ --bind-data+ --ro-bind-data+ --symlink+ --chmod+ --overlay-src=
		--seccomp= --unshare-all --share-net --unshare-user --unshare-user-try --unshare-ipc --unshare-pid --unshare-net
		--unshare-uts --unshare-cgroup --unshare-cgroup-try --userns= --pidns= --uid= --gid= --hostname= --chdir=dir --setenv+
		--unsetenv= --clearenv --lock-file= --sync-fd= --info-fd= --json-status-fd= --die-with-parent --new-session --as-pid-1
		--cap-add= --cap-drop= --perms= --size= --args= --disable-userns --argv0= --block-fd= --userns-block-fd=`, operands: "run", tags: "wrapper namespace", then: bwrap},
	"firejail fakechroot proot": {opts: "-r= -b= -w=", operands: "run", tags: "wrapper namespace"},
	"systemd-run": {opts: `
		-[dGPqSrt] --user --system --scope --pty --pipe --shell --wait --collect --no-block --quiet --remain-after-exit
		--same-dir --slice-inherit -u|--unit= -p|--property= -E|--setenv=env -H|--host=:remote -M|--machine= --uid= --gid=
		--nice= --working-directory=dir --slice= --description= --service-type= --on-active=:schedule --on-boot=:schedule
		--on-startup=:schedule --on-unit-active=:schedule --on-unit-inactive=:schedule --on-calendar=:schedule
		--on-clock-change:schedule --on-timezone-change:schedule --path-property= --socket-property= --timer-property=
		--send-sighup --expand-environment= --background= --no-ask-password`, operands: "run", tags: "wrapper namespace service"},

	"nice":             {opts: "-n|--adjustment=", operands: "run", tags: "wrapper"},
	"nohup setsid":     {opts: "-[cfw] --ctty --fork --wait", operands: "run", tags: "wrapper longrun"},
	"timeout gtimeout": {opts: "-v -f -p -k|--kill-after= -s|--signal= --foreground --preserve-status --verbose", operands: "skip run", tags: "wrapper"},
	"time":             {opts: "-[apqv] -f|--format= -o|--output=write --append --portability --quiet --verbose", operands: "run", tags: "wrapper"},
	"stdbuf":           {opts: "-i|--input= -o|--output= -e|--error=", operands: "run", tags: "wrapper"},
	"ionice":           {opts: "-t -c|--class= -n|--classdata= -p|--pid= -P|--pgid= -u|--uid= --ignore", operands: "run", tags: "wrapper"},
	"chrt": {opts: `
		-[abdfioRrvm] -p|--pid -T|--sched-runtime= -P|--sched-period= -D|--sched-deadline= --batch --fifo --idle --other --rr
		--deadline --reset-on-fork --all-tasks --max --verbose`, operands: "skip run", tags: "wrapper"},
	"taskset": {opts: "-a -p|--pid -c|--cpu-list --all-tasks", operands: "skip run", tags: "wrapper"},
	"prlimit": {opts: `
		-p|--pid= -o|--output= --noheadings --raw --verbose --core? --data? --nice? --fsize? --sigpending? --memlock? --rss?
		--nofile? --msgqueue? --rtprio? --stack? --cpu? --nproc? --as? --locks? --rttime? -c? -d? -e? -f? -i? -l? -m? -n? -q?
		-r? -s? -t? -u? -v? -x? -y?`, operands: "run", tags: "wrapper"},
	"setarch linux32 linux64 i386 x86_64": {opts: "-[RFZLXBIST3vh] --addr-no-randomize --uname-2.6 --32bit --list", operands: "run", tags: "wrapper"},
	"strace": {opts: `
		-[cCdDfFhikqrtTvVwxyYzZnN] -ff -tt -ttt -yy -xx -qq -A -a= -b= -e|--trace= -E|--env=env -I= -o|--output=out -O=
		-p|--attach=:signal -P= -s|--string-limit= -S= -u|--user=:privilege -U= -X= --follow-forks --summary --summary-only
		--output-separately --decode-fds? --seccomp-bpf --status= --timestamps? --relative-timestamps? --syscall-times?
		--quiet? --tips? --daemonize?`, operands: "run", tags: "wrapper"},
	"ltrace": {opts: `
		-[bcCfhiLrStTV] -a= -A= -D= -e= -F=load -l= -n= -o|--output=write -p=:signal -s= -u=:privilege -w= -x=`, operands: "run", tags: "wrapper"},
	"valgrind  heaptrack": {opts: `
		--tool= --log-file=write --suppressions=read --xml-file=write --massif-out-file=write --callgrind-out-file=write
		--leak-check= -v -q --trace-children= --db-command=sh`, operands: "run", tags: "wrapper", open: true},
	"cpulimit": {opts: "-[vzikfm] -l|--limit= -p|--pid= -e|--exe= -P|--path= -b", operands: "run", tags: "wrapper"},
	"fakeroot": {opts: "-[uvh] -l|--lib=load -s=write -i=read -b= --faked=exec", operands: "run", tags: "wrapper"},
	"dbus-run-session dbus-launch": {opts: `
		--config-file=load --dbus-daemon=exec --exit-with-session --sh-syntax --csh-syntax --auto-syntax`, operands: "run", tags: "wrapper"},
	"xvfb-run": {opts: `
		-[al] -e|--error-file=write -f|--auth-file=write -n|--server-num= -p|--xauth-protocol= -s|--server-args= -w|--wait=
		--auto-servernum --auto-display -d --listen-tcp`, operands: "run", tags: "wrapper"},
	`
		unbuffer catchsegv torsocks torify proxychains proxychains4 tsocks chronic ts eatmydata aoss padsp optirun primusrun
		prime-run gamemoderun caffeinate annotate-output faketime`: {opts: "-[pqdisum] -f=load -t= -w=", operands: "run", tags: "wrapper"},
	"softlimit chpst envdir envuidgid setuidgid": {opts: "-[vP012] -u= -e=load -m= -o= -n= -/=", operands: "skip run", tags: "wrapper"},
	"logsave":          {opts: "-[asv]", operands: "write run", tags: "wrapper"},
	"daemonize daemon": {opts: "-[av] -c=dir -e=write -o=write -p=write -l=write -u= -E=env", operands: "run", tags: "wrapper longrun"},
	"flock": {opts: `
		-[esxnubFo] -c|--command=sh -w|--timeout|--wait= -E|--conflict-exit-code= --verbose --exclusive --shared --nonblock --nb
		--unlock --close --no-fork --fcntl`, operands: "write run", tags: "wrapper"},
	"busybox toybox": {opts: "--install:config-or-install --list --list-full --long", operands: "run", tags: "wrapper", then: applet},
	"ld.so": {opts: `
		--library-path= --preload=load --argv0= --audit=load --inhibit-cache --inhibit-rpath= --glibc-hwcaps-prepend=
		--glibc-hwcaps-mask= --list --verify --list-tunables --list-diagnostics`, operands: "run", tags: "wrapper"},
	"env": {opts: `
		-[i0v] -u|--unset= -C|--chdir=dir -S|--split-string= -a|--argv0= --ignore-environment --null --debug --block-signal?
		--default-signal? --ignore-signal? --list-signal-handling`, style: stop, tags: "wrapper", then: env},
	"xargs gxargs": {opts: `
		-[0rtpxo] -a|--arg-file=list -d|--delimiter= -E= -e|--eof? -I= -i|--replace? -L|--max-lines= -l? -n|--max-args=
		-P|--max-procs= -s|--max-chars= -J= -R= --process-slot-var= --null --no-run-if-empty --verbose --interactive --exit
		--open-tty --show-limits`, style: stop, tags: "wrapper", then: xargs},
	"parallel rush": {opts: `
		-[0kmqruvXxz] -j|--jobs|-P= -a|--arg-file=list -I= -n|--max-args= -N= -L= -l? -d|--delimiter= -C|--colsep=
		-S|--sshlogin=:remote --slf|--sshloginfile=load:remote --joblog=write --results=write --tmpdir=write --timeout=
		--retries= --delay= --load= --halt= --wd=dir --workdir=dir`, operands: "line", tags: "wrapper", stdin: always, shell: true},
	"script": {opts: `
		-[aefqr] -c|--command=sh -E|--echo= -I|--log-in=write -O|--log-out=write -B|--log-io=write -T|--log-timing=write
		-m|--logging-format= -o|--output-limit= -t? --append --return --flush --force --quiet`, operands: "write", tags: "wrapper", shell: true},
	"watch viddy": {opts: `
		-[bcCegprtw] -x|--exec=rest -n|--interval= -d|--differences? -q|--equexit= -s|--shotsdir=write -S= --beep --color --errexit --chgexit
		--precise --no-title --no-wrap --no-rerun --no-linenumbers`, operands: "line", tags: "wrapper longrun"},
	"watchexec chokidar nodemon reflex air": {opts: "-[acdnprsz] -w|--watch= -e|--exts= -f= -i= -x|--exec=sh", operands: "line", tags: "wrapper longrun workspace-code"},
	"entr":                                  {opts: "-[acdnprxz] -s=sh", operands: "run", tags: "wrapper longrun workspace-code"},
	"tmux": {opts: "-[2CDlNquUv] -c=sh -f=load -L= -S=write -T=", own: true, tags: "wrapper", bare: "longrun", shell: true, subs: []sub{
		{"ls lsp lsw has-session has list-* show*", row{}}, {"kill-*", row{tags: "signal longrun"}},
		{"source-file source", row{tags: "opaque-exec longrun", operands: "line"}},
		{"*", row{opts: "-[adhvDPRZ] -c= -n= -s= -t= -F= -T= -e= -x= -y= -l=", operands: "line", tags: "longrun"}}}},
	"screen zellij": {opts: `
		-[aAdDmOqrRUxXnLiwv] -dm -dmS= -ls -list -c=load -e= -h= -s=exec -S= -t= -T= -p= -Q= -Logfile=write -wipe`, operands: "run", tags: "wrapper longrun"},
	"at batch": {opts: "-[bmMvV] -l:looks -c:looks -f=script -t= -q= -d|-r:discard,looks", operands: "skip*", tags: "schedule", shell: true},
	"atq atrm": {tags: "schedule"},
	"crontab":  {opts: "-u=:privilege -l:!schedule,!code,looks -r:discard,!code -e:editor,!code -i -s -T=", operands: "script", bare: "code", tags: "schedule"},
	"command":  {opts: "-p -v:!wrapper,looks -V:!wrapper,looks", operands: "run", tags: "wrapper"},
	"builtin":  {operands: "run", tags: "wrapper"},
	"exec":     {opts: "-[cl] -a=", operands: "run", tags: "wrapper"},
	"hyperfine": {opts: `
		-w|--warmup= -m|--min-runs= -M|--max-runs= -r|--runs= -s|--setup=sh -p|--prepare=sh -c|--cleanup=sh --conclude=sh -P+
		-D= -L+ -S|--shell=exec -n|--command-name= --export-json=write --export-csv=write --export-markdown=write --output=
		--input=read --style= -i -N -u= --show-output --ignore-failure`, tags: "wrapper", operands: "sh*"},
	"xdg-open open gio see sensible-browser sensible-pager sensible-editor": {tags: "opaque-exec", operands: "read*", open: true},
	"direnv dotenv": {tags: "opaque-exec", open: true},
	"gdb lldb": {opts: `
		--args=rest -ex=:opaque-exec -x=load -iex=:opaque-exec -ix=load -batch -p=:signal -c=read -s=read -e=exec -q -nx
		--pid=:signal --command=load --eval-command=:opaque-exec -o=:opaque-exec -O=:opaque-exec -S=load --batch`, operands: "read*", tags: "opaque-exec", style: words, open: true},
	"expect": {opts: "-c=inline -f=main! -b=main! -d -D= -i -n -N", operands: "main", bare: "code"},
}

// variables takes NAME=value from the front.
func (c *call) variables(list []Word) []Word {
	for len(list) > 0 {
		name, _, ok := strings.Cut(list[0].Text, "=")
		if !ok || name == "" || strings.Contains(name, "/") {
			break
		}
		c.sets(list[0])
		list = list[1:]
	}
	return list
}

// startShell is an interactive one, or one that reads the standard input.
func (c *call) startShell() {
	c.Runs = append(c.Runs, Run{Via: c.name, Shell: true, KeepStdin: true, NewShell: true, Wrapper: c.name, Dir: c.Folder})
	c.ReadsIn = true
}

func sudo(c *call) {
	words := c.variables(c.Operands)
	switch {
	case c.has("-e"):
		for _, w := range words {
			c.use(change, w, "-e")
		}
	case (c.has("-s", "-i")) && len(words) == 0:
		c.startShell()
	case c.has("-s", "-i"):
		c.code(join(words), c.name+" -s")
	default:
		c.run(c.name, words, c.name)
	}
}

// su and runuser take the line after the user, too, and runuser -u a program.
func su(c *call) {
	if c.has("-u") {
		c.run(c.name, c.Operands, c.name)
	} else if i := slices.IndexFunc(c.Operands, func(w Word) bool { return w.Text == "-c" }); i >= 0 && i+1 < len(c.Operands) {
		c.code(c.Operands[i+1], c.name+" -c")
	}
}

// bwrap: what is bound of the machine stands before its name in the sandbox.
func bwrap(c *call) {
	for i := 1; i < len(c.args); i++ {
		if o := c.exact(c.args[i-1].Text); o != nil && strings.Contains(o.name, "bind") {
			c.use(o.kind, c.args[i], o.name)
		}
	}
}

// capsh starts bash with what follows -- or ==.
func capsh(c *call) {
	for i, w := range c.args {
		if w.Text == "--" || w.Text == "==" {
			c.run(c.name, append([]Word{{Text: "bash"}}, c.args[i+1:]...), c.name)
			return
		}
	}
}

// applet is a program inside of busybox.
func applet(c *call) {
	if len(c.Operands) > 0 && lookup(c.table, c.Operands[0].Text) == nil {
		c.tag("unlisted")
	}
}

func env(c *call) {
	if w, ok := c.value("-S"); ok {
		if strings.Contains(w.Text, "$") {
			c.unsure("variables in env -S")
		}
		c.run("env -S", slices.Concat([]Word{{Text: "env"}}, split(w), c.Operands), c.name)
		return
	}
	words := c.variables(c.Operands)
	if len(words) == 0 {
		c.tag("dump-env")
		return
	}
	c.run(c.name, words, c.name)
}

func xargs(c *call) {
	r := Run{Via: "xargs", Wrapper: c.name, Lines: true, NulLines: c.has("-0", "--null"), Argv: c.Operands}
	if len(r.Argv) == 0 {
		r.Argv = []Word{{Text: "echo"}}
	}
	if w, ok := c.value("-d"); ok && (w.Text == `\0` || w.Text == `\x00` || w.Text == `\000`) {
		r.NulLines = true
	} else if ok {
		r.WholeLine = true
		if w.Text != `\n` && w.Text != "\n" {
			c.unsure("delimiter of xargs")
		}
	}
	r.Groups = c.has("-n") || c.has("-L") || c.has("-l") || c.has("-s")
	if w, ok := c.value("-I"); ok {
		r.Replace = w.Text
	} else if w, ok := c.value("-J"); ok {
		r.Replace = w.Text
	} else if c.has("-i") {
		r.Replace = "{}"
		if w, ok := c.value("-i"); ok {
			r.Replace = w.Text
		}
	}
	if c.has("-a") {
		r.Lines = false
		r.Argv = append(slices.Clip(r.Argv), Word{Dynamic: true})
	} else {
		c.ReadsIn = true
	}
	c.Runs = append(c.Runs, r)
}
