package walls

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestEveryday runs what people run, bare and confined: both print the same.
func TestEveryday(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and what runs is another program")
	}
	t.Parallel()
	for _, c := range []struct{ name, needs, script string }{
		{"pipes", "", `echo a b | tr a c | cat; cat <<< here; printf 'x\n' | while read -r l; do echo "$l"; done`},
		{"here-documents", "", "cat <<X\n" + strings.Repeat("a line\n", 15000) + "X\n"},
		{"standard streams by name", "", `echo out > /dev/stdout; echo err > /dev/stderr; cat /dev/null /dev/fd/0 </dev/null; cat <(echo sub)`},
		{"sed", "", `echo a > f; sed -i s/a/b/ f; cat f`},
		{"metadata", "", `echo a > f; touch -d 2001-01-01 f; chmod 640 f; cp -p f g; stat -c '%a %Y' g; chmod +x g; ln -s g h; touch -h -d 2002-02-02 h; stat -c '%a %Y' g h; install -m 700 f i; stat -c %a i`},
		{"archives", "tar", `mkdir d; echo a > d/f; chmod 750 d; touch -d 2001-01-01 d/f d; tar cf t.tar d; rm -r d; tar xf t.tar; stat -c '%n %a %Y' d d/f`},
		{"relative and linked folders", "", `mkdir -p d/e; ln -s d l; cd l/e; touch f; chmod 600 ../e/f; chmod 700 .; stat -c '%a' f .`},
		{"attributes", "setfattr", `touch f; setfattr -n user.x -v y f; getfattr --only-values -n user.x f; setfattr -x user.x f`},
		{"job control", "", `set -m; sleep 0.05 & wait %1; echo $?; sleep 60 & kill %%; wait %%; echo $?`},
		{"signals", "", `trap 'echo got' USR1; kill -USR1 $$; (kill -TERM $BASHPID); echo $?; timeout 0.05 sleep 9; echo $?`},
		{"limits", "", `ulimit -n 64; ulimit -n; nice -n 5 nice; taskset -p $$ >/dev/null && echo ok`},
		{"a terminal", "script", `script -qec 'test -t 0 && stty size >/dev/null && echo terminal; echo x > /dev/tty' /dev/null </dev/null`},
		{"git", "git", `git init -q r && cd r && git config user.email a@example.com && git config user.name a && echo 1 > f && git add f && git commit -qm one && git switch -qc b && git log --format=%s && git gc -q && git status --short`},
		{"make", "make", `printf 'f: g\n\tcp g f\n\t@cat f\n' > Makefile; echo made > g; make`},
		{"go", "go", `mkdir m; cd m; printf 'module x\ngo 1.26\n' > go.mod; printf 'package x\nimport "testing"\nfunc TestX(t *testing.T) { t.Log("ok") }\n' > x_test.go; go vet . && go test . | cut -f 1,2`},
		{"python", "/usr/bin/python3", `/usr/bin/python3 -c '
import multiprocessing, subprocess, tempfile, socket, asyncio, os, pty
if __name__ == "__main__":
    with multiprocessing.Pool(2) as p: print(p.map(abs, [-1, 2]))
    print(subprocess.run(["echo", "sub"], capture_output=True).stdout)
    with tempfile.TemporaryDirectory() as d: print(len(os.listdir(d)))
    a, b = socket.socketpair(); a.send(b"x"); print(b.recv(1))
    async def main():
        s = await asyncio.start_server(lambda r, w: (w.write(b"hi"), w.close()), "127.0.0.1", 0)
        r, w = await asyncio.open_connection(*s.sockets[0].getsockname()); print(await r.read())
        u = await asyncio.start_unix_server(lambda r, w: (w.write(b"ho"), w.close()), "s")
        r, w = await asyncio.open_unix_connection("s"); print(await r.read())
    asyncio.run(main())
    master, slave = pty.openpty(); os.write(slave, b"pty"); print(os.read(master, 9))
    with multiprocessing.Manager() as m: print(m.list([1]))
'`},
		{"watching files", "/usr/bin/python3", `mkdir d; ln -s d l; /usr/bin/python3 -c '
import ctypes, os
c = ctypes.CDLL(None)
f = c.inotify_init1(0)
print(c.inotify_add_watch(f, b"d", 0x100), c.inotify_add_watch(f, b"l", 0x02000100), c.inotify_add_watch(f, b"none", 0x100))
open("d/new", "w").close(); print(os.read(f, 99)[16:].strip(b"\0"))
'`},
		{"a python environment", "/usr/bin/python3", `/usr/bin/python3 -m venv v && v/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'`},
		{"node", "node", `cat > server.js <<'X'
const http = require('http'), net = require('net')
const s = http.createServer((q, r) => r.end('served')).listen(0, () =>
  http.get({port: s.address().port, host: 'localhost'}, r => r.on('data', d => { console.log(String(d)); s.close() })))
const u = net.createServer(c => c.end('local')).listen('./s', () => net.connect('./s').on('data', d => { console.log(String(d)); u.close() }))
X
node server.js | sort`},
		{"npm", "npm", `echo '{"name":"x","version":"1.0.0","scripts":{"test":"node -e \"console.log(1+1)\""}}' > package.json; npm test --silent`},
		{"a server and curl", "curl", `/usr/bin/python3 -m http.server 0 >log 2>&1 & p=$!; for i in $(seq 200); do port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' log 2>/dev/null); [ -n "$port" ] && break; sleep 0.05; done
curl -s -o /dev/null -w '%{http_code}\n' "http://localhost:$port/"; kill $p`},
		{"a terminal multiplexer", "tmux", `tmux -S ./t new-session -d 'sleep 5'; tmux -S ./t list-sessions | cut -d' ' -f1,2,3; tmux -S ./t kill-server`},
		{"a database", "sqlite3", `sqlite3 d 'create table t(x); insert into t values (1); select * from t'`},
		{"what the system says", "", `nproc; id -u; uname -s; getent hosts localhost >/dev/null && echo found; ps -o comm= -p $$; test -r /etc/passwd && echo readable; date -d @0 +%Y`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.needs); c.needs != "" && err != nil {
				t.Skip(c.needs + " is not here")
			}
			b := fit(t, "bash", "-c", c.script)
			root, _ := exec.Command("go", "env", "GOROOT").Output() // none: the case of go is skipped
			goroot := strings.TrimSpace(string(root))
			if goroot != "" {
				b.Read = append(b.Read, goroot)
			}
			cache, err := os.UserCacheDir() // building all from the start takes a minute
			if err != nil {
				cache = t.TempDir()
			}
			b.Env = append(b.Env, "GOCACHE="+cache+"/go-build", "PYTHONUNBUFFERED=1", "GOFLAGS=-mod=mod",
				"GOTOOLCHAIN=local", "LC_ALL=C")
			b.Env[0] = "PATH=" + goroot + "/bin:/usr/local/bin:/usr/bin:/bin"
			out := func(w way) string {
				b.Dir = t.TempDir()
				b.Env[1], b.Env[2] = "HOME="+b.Dir, "TMPDIR="+b.Dir
				b.Write = append(b.Write[:1:1], b.Dir, cache+"/go-build")
				var out strings.Builder
				if w == apart {
					b.Fixed = []string{b.Dir + "/fixed/too"}
					if err := os.MkdirAll(b.Fixed[0], 0o700); err != nil {
						t.Fatal(err)
					}
				}
				if w != bare {
					code, err := Run(b, Streams{Out: &out, Err: &out})
					if err != nil || code != 0 {
						t.Errorf("exit code %d: %v", code, err)
					}
					return out.String()
				}
				c := exec.Command(b.Command[0], b.Command[1:]...)
				c.Env, c.Dir, c.Stdout, c.Stderr = b.Env, b.Dir, &out, &out
				if err := c.Run(); err != nil {
					t.Skipf("it does not work bare: %v %s", err, out.String())
				}
				return out.String()
			}
			want := out(bare)
			for _, w := range []way{plain, apart} {
				if got := out(w); got != want {
					t.Errorf("bare %q\n%s %q", want, w, got)
				}
			}
		})
	}
}
