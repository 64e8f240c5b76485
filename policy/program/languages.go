package program

import (
	"regexp"
	"slices"
	"strings"
)

// languages are interpreters and shells. A file that is an operand is code; without one
// they read it from their standard input.
var languages = family{
	"python python3 python2 pypy pypy3": {opts: `
		-[bBdEhIOPqsSuvVx] -i:interactive-shell -c=inline -m=rest -W= -X= --check-hash-based-pycs= --version --help`, operands: "main skip*", style: stop, versioned: true, bare: "code", then: python},
	"perl": {opts: `
		-[acfgnpsStTuUVwWX] -v:!code -0? -C? -d? -D? -e=inline -E=inline -F=inline -i? -I=load -l? -m=:opaque-exec -M=:opaque-exec -x?`, operands: "main read*", style: stop, versioned: true, bare: "code"},
	"ruby": {opts: `
		-[acdhlLnpsSwWy] -v:!code -0? -C=dir -e=inline -E= -F= -i? -I=load -K= -r=load -T? -x? --encoding= --external-encoding=
		--internal-encoding= --disable= --enable= --jit --yjit --version --copyright --verbose --backtrace-limit= --dump=`, operands: "main skip*", style: stop, versioned: true, bare: "code"},
	"node nodejs": {opts: nodeOptions, operands: "main skip*", style: stop, versioned: true, bare: "code"},
	"php": {opts: `
		-[aCeHilnqsw] --info:!code -m|--modules:!code -v|--version:!code -b= -c|--php-ini=load -d|--define=:opaque-exec -f|--file=main! -r|--run=inline
		-B|--process-begin=inline -R|--process-code=inline -F|--process-file=script -E|--process-end=inline
		-S|--server=:raw-socket -t|--docroot=read -z|--zend-extension=load --ini:!code --rf=:!code --rc=:!code --re=:!code
		--ri=:!code --syntax-check --no-php-ini`, operands: "main skip*", style: stop, versioned: true, bare: "code"},
	"lua luajit texlua": {opts: "-[iEW] -v:!code -e=inline -l=load -b -j= -O?", operands: "main skip*", style: stop, versioned: true, bare: "code"},
	"tclsh wish":        {opts: "-encoding=", operands: "main skip*", style: stop, versioned: true, bare: "code"},
	"R Rscript": {opts: `
		-e=inline -f|--file=main! --args=rest --vanilla --slave --no-save --no-restore --quiet --default-packages= -g=
		--version`, operands: "main skip*", style: stop, bare: "code"},
	"julia": {opts: `
		-[iqh] -v|--version:!code -e|--eval=inline -E|--print=inline -L|--load=load -J|--sysimage=load --project? -p|--procs= -t|--threads= -C=
		--startup-file= --color= --machine-file=load --compile= -O?`, operands: "main skip*", style: stop, versioned: true, bare: "code"},
	"octave octave-cli": {opts: "--eval=inline -p=load -q --no-gui --persist --no-init-file", operands: "main skip*", style: stop, bare: "code"},
	"ghc runghc runhaskell ghci": {opts: `
		-e=inline -o=write -package= -O? -Wall --make -i? -F:opaque-exec -pgmF=exec -pgmc=exec -pgml=exec -pgmP=exec -cpp`, operands: "main skip*", tags: "workspace-code", style: words, bare: "code"},
	"groovy scala kotlin kscript jshell": {opts: "-e=inline -cp|-classpath|--class-path=load -D=", operands: "main skip*", style: words, bare: "code", open: true},
	"elixir iex  escript erl": {opts: `
		-e|--eval=inline -r=load -S= --rpc-eval+ -pa=load -pz=load -eval=inline -s= -run= -noshell -v:!code`, operands: "main skip*", style: stop, bare: "code", open: true},
	"clojure clj bb lein": {opts: `
		-e|--eval=inline -i|--init=load -m|--main=:!code -r -x= -Sdeps=:opaque-exec -f=main! -v:!code`, operands: "main skip*", style: stop, bare: "code", open: true},
	"swipl guile racket sbcl clisp gst mit-scheme csi chicken": {opts: `
		-c=inline -e|--eval=inline -g=inline -l|--load=load -s=main! -q --script=main! -x=inline -f=load -t=`, operands: "main skip*", style: stop, bare: "code", open: true},
	"osascript": {opts: "-e=inline -l= -i -s=", operands: "main skip*", style: stop, bare: "code"},
	"pwsh powershell": {opts: `
		-Command=inline -c=inline -EncodedCommand=inline -ec=inline -e=inline -File=main! -f=main! -NoProfile
		-NonInteractive -NoLogo -ExecutionPolicy= -WorkingDirectory=dir -Version`, operands: "main skip*", style: words, bare: "code"},
	"deno": {opts: "--config=load -c=load --import-map=load -q", style: stop, versioned: true, bare: "code interactive-shell", tags: "workspace-code", open: true, then: fileAsSub, subs: denoSubs},
	"bun": {opts: `
		-e|--eval=inline -p|--print=inline -r|--preload=load -c|--config=load --cwd=dir --env-file=load --shell=`, style: stop, open: true, bare: "code interactive-shell", tags: "workspace-code", then: fileAsSub, subs: append([]sub{{"build repl", row{operands: "skip*"}}}, nodePackages...)},
	"tsx ts-node esno": {opts: `
		-e|--eval=inline -p|--print=inline -r|--require=load --import=load --loader=load -P|--project=load -T --esm -v:!code
		--tsconfig=load`, operands: "main skip*", style: stop, bare: "code", open: true},
	"dc": {opts: "-e|--expression=inline -f|--file=script -x -i", operands: "main*", bare: "code"},
	"bc": {opts: "-[ilqswvhxP] -e|--expression= -f|--file=read -m --mathlib --quiet --scale=", operands: "read*", stdin: always},
	"m4": {opts: "-[EeGiPQs] -D= -U= -I=load -R=load -o=write -F=write -t= -d?", operands: "main*", bare: "code"},
	"irb pry ipython  bpython jupyter jupyter-lab jupyter-notebook": {opts: "-c=inline -e=inline -r=load -m=:!code", operands: "main skip*", open: true, bare: "code", style: stop},
	"sqlite3": {opts: `
		-cmd=inline -init=load -csv -json -header -noheader -line -list -column -html -readonly -batch -bail -echo -separator=
		-newline= -nullvalue= -markdown -table -box -tabs -quote -safe -memtrace -stats -version -help -interactive -append
		-ascii -deserialize -maxsize= -mmap= -nofollow -vfs= -zip`, operands: "change inline*", style: words, then: database},
	"duckdb": {opts: `
		-c=inline -cmd=inline -init=load -csv -json -readonly -unsigned -line -box -markdown -s=inline`, operands: "change inline*", style: words, then: database},
	"psql": {opts: `
		-[aAbeEHlnqsStwWxXz01] -c|--command=inline -f|--file=script -d|--dbname= -h|--host= -p|--port= -U|--username=
		-v|--set|--variable= -o|--output=write -L|--log-file=write -P|--pset= -F|--field-separator= -R|--record-separator=
		-T|--table-attr= --csv --html --list --tuples-only --no-align --no-psqlrc --quiet --single-transaction --no-password
		--password --expanded --echo-all --echo-queries --echo-errors --echo-hidden --single-step --single-line`, operands: "skip*", tags: "remote", then: database},
	"mysql mariadb": {opts: `
		-[ABbcCfGHijLnNoqrstTUvVwXE] -e|--execute=inline -h|--host= -P|--port= -u|--user= -p? -D|--database= -S|--socket=
		--defaults-file=load --defaults-extra-file=load --plugin-dir=load --pager?:opaque-exec --tee=write
		--init-command=inline --ssl-ca=read --ssl-cert=read --ssl-key=read --password? --batch --silent --skip-column-names
		--table --raw --local-infile? --default-character-set= --protocol= --delimiter=`, operands: "skip*", tags: "remote", then: database},
	"redis-cli valkey-cli": {opts: `
		-[cxX2-3] -h= -p= -s= -a= -u= -r= -i= -n= --user= --pass= --askpass --raw --no-raw --csv --json --tls --cacert=read
		--cert=read --key=read --sni= --eval=script --pipe --rdb=write --bigkeys --memkeys --hotkeys --scan --pattern=
		--latency --stat --no-auth-warning --verbose --cluster=`, operands: "skip*", tags: "remote"},
	"mongosh mongo": {opts: `
		--eval=inline -f|--file=script --host= --port= -u= -p? --username= --password? --quiet --norc --shell --tls
		--authenticationDatabase= --json?`, operands: "skip script*", tags: "remote", then: database, open: true},
	"pg_dump pg_dumpall pg_restore mysqldump mongodump mongorestore pg_isready createdb dropdb pg_ctl": {opts: `
		-f|--file=write -r|--result-file=write -d= -h= -p= -U= -u= -F= -t= -n= -o|--out=write -T|--tab=write`, tags: "remote", open: true},
	"bash sh dash zsh ksh ash fish rbash mksh yash csh tcsh elvish nu xonsh": {opts: `
		-[abefhiklmnprtuvxBCDEHPT] -c=sh:!code -s:code -o= -O= --rcfile=load --init-file=load --login --norc --noprofile --posix --restricted
		--verbose --debugger --dump-strings --dump-po-strings --pretty-print`, operands: "script skip*", style: stop, bare: "code"},
}

const nodeOptions = `
	-[ch] -v:!code -e|--eval=inline -p|--print=inline -r|--require=load --import=load --loader=load --experimental-loader=load
	--env-file=load --env-file-if-exists=load -C|--conditions= --inspect?:raw-socket --inspect-brk?:raw-socket
	--inspect-port= --inspect-wait? --check --interactive:interactive-shell -i:interactive-shell --test:workspace-code,!code
	--test-name-pattern= --test-reporter=load --test-reporter-destination=write --test-concurrency= --test-timeout=
	--test-only --test-shard= --test-coverage-include= --test-coverage-exclude= --experimental-test-coverage
	--watch:longrun --watch-path= --run=:workspace-code,!code --input-type= --max-old-space-size= --max-semi-space-size=
	--stack-size= --stack-trace-limit= --trace-warnings --trace-deprecation --trace-uncaught --trace-exit --no-warnings
	--no-deprecation --throw-deprecation --pending-deprecation --unhandled-rejections= --enable-source-maps
	--experimental-vm-modules --experimental-strip-types --experimental-transform-types --experimental-modules
	--experimental-json-modules --experimental-specifier-resolution= --experimental-default-type= --experimental-sqlite
	--experimental-require-module --preserve-symlinks --preserve-symlinks-main --expose-gc --allow-natives-syntax
	--harmony --permission --allow-fs-read= --allow-fs-write= --allow-child-process --allow-worker --disable-warning=
	--dns-result-order= --icu-data-dir=read --openssl-config=load --openssl-legacy-provider --use-openssl-ca
	--use-system-ca --tls-min-v1.2 --tls-keylog=write --redirect-warnings=write --cpu-prof --cpu-prof-dir=write
	--cpu-prof-name=write --heap-prof --heap-prof-dir=write --heapsnapshot-signal= --prof --prof-process:!code --perf-basic-prof
	--report-dir=write --diagnostic-dir=write --trace-event-categories= --title= --v8-options:!code --zero-fill-buffers
	--abort-on-uncaught-exception --build-snapshot --snapshot-blob=load --experimental-sea-config=load --completion-bash
	--experimental-policy=load --build-snapshot-config=load --allow-addons --allow-wasi --cpu-prof-interval=
	--disable-proto= --enable-fips --force-fips --experimental-eventsource --experimental-import-meta-resolve
	--experimental-network-inspection --experimental-permission --experimental-wasm-modules --experimental-websocket
	--experimental-test-module-mocks --frozen-intrinsics --heap-prof-interval= --heap-prof-name=write
	--heapsnapshot-near-heap-limit= --insecure-http-parser --max-http-header-size=
	--network-family-autoselection-attempt-timeout= --report-compact --report-directory=write --report-filename=write
	--report-on-fatalerror --report-on-signal --report-signal= --report-uncaught-exception --secure-heap=
	--secure-heap-min= --test-force-exit --tls-cipher-list= --tls-max-v1.2 --tls-max-v1.3 --tls-min-v1.0 --tls-min-v1.1
	--tls-min-v1.3 --trace-event-file-pattern=write --trace-promises --trace-sigint --trace-sync-io --trace-tls
	--use-bundled-ca --use-largepages= --v8-pool-size= --watch-preserve-output --jitless --debug-port= --test-isolation=
	--test-update-snapshots --experimental-test-snapshots --experimental-webstorage --localstorage-file=write
	--test-skip-pattern=`

var denoSubs = []sub{
	{"run", row{operands: "main skip*", opts: "-[A] -r? --preload=load --env-file?load"}},
	{"eval repl", row{opts: "-p", operands: "inline*", bare: "code"}},
	{"test bench fmt lint check doc info cache compile bundle task types completions init coverage vendor", row{opts: "-o|--output=write"}},
	{"install|i|add uninstall remove|rm upgrade outdated", row{tags: "config-or-install"}},
	{"publish deploy", row{tags: "publish"}},
	{"jupyter lsp serve", row{tags: "longrun"}},
}

// modules are run with python -m, beside those that are programs, too.
var modules = compile(family{
	"venv virtualenv": {operands: "write*", open: true},
	"json.tool":       {operands: "read write", stdin: 1, open: true},
	"http.server":     {tags: "raw-socket longrun", open: true},
	"ensurepip":       {tags: "config-or-install", open: true},
	"cProfile":        {opts: "-o=write -s= -m=inline", operands: "script skip*", style: stop},
	"zipfile tarfile compileall py_compile django sphinx": {operands: "change*", tags: "workspace-code", open: true},
	`
		doctest build tokenize dis ast site sysconfig platform this calendar tabnanny setuptools wheel celery IPython
		pre_commit alembic`: {operands: "read*", tags: "workspace-code", open: true},
	"trace profile pdb timeit test": {operands: "inline*", bare: "code", open: true},
})

// standardPackages hold modules that run, and come with python or publish.
var standardPackages = strings.Fields(`
	asyncio collections concurrent ctypes curses dbm distutils email encodings ensurepip html http idlelib importlib json
	lib2to3 logging multiprocessing os pip pydoc_data re setuptools site sqlite3 sysconfig test tkinter tomllib turtledemo
	twine unittest urllib venv wsgiref xml xmlrpc zipfile zoneinfo`)

// fileAsSub: a file may stand in the place of a subcommand.
func fileAsSub(c *call) {
	if !c.Inline && strings.ContainsAny(c.Sub, "./") {
		c.untag("unlisted-sub")
		c.codeFile(Word{Text: c.Sub, Begins: true}, "argument")
	}
}

// python has modules instead of a file: programs that are installed, those that come with
// it, and any of the workspace.
func python(c *call) {
	if c.Inline || len(c.tail) == 0 {
		return
	}
	name, args := c.tail[0], c.tail[1:]
	c.tail, c.Sub, c.Operands = nil, name.Text, args
	first, _, deep := strings.Cut(name.Text, ".")
	switch p := modules.row(name.Text); {
	case name.Dynamic:
		c.unsure("dynamic module")
	case p != nil:
		c.program, c.args = p, args
		c.parse()
		c.apply()
	case lookup(c.table, name.Text) != nil:
		c.run("python -m", append([]Word{name}, args...), "python")
	case deep && !slices.Contains(standardPackages, first):
		c.tag("workspace-code") // a package of the project
	default:
		c.Inline = true // any module of the workspace or the system
	}
}

// database shells read statements from their standard input, and can run programs.
func database(c *call) {
	if c.name == "sqlite3" && c.asksOnly() {
		c.Inline = false
		return
	}
	if c.CodeFile.Text != "" || c.Inline {
		c.Inline = true
		return
	}
	for _, f := range c.Flags {
		switch f {
		case "-version", "-help", "--version", "--help", "-V", "-l", "--list":
			return
		}
	}
	c.ReadsCode, c.ReadsIn, c.Inline = true, true, true
}

var (
	sqlQuestion = regexp.MustCompile(`(?is)^\s*(select|explain|with|\.tables|\.schema|\.indexes|\.databases|pragma\s+\w+\s*(\(\w*\))?;?\s*$)`)
	sqlActs     = regexp.MustCompile(`(?i)\b(insert|update|delete|drop|alter|create|replace|attach|vacuum|load_extension|readfile|writefile|edit|fsdir|zipfile|fts3_tokenizer)\b|\n\s*\.`)
)

// asksOnly tells whether all statements of sqlite3 only look at the one database.
func (c *call) asksOnly() bool {
	if len(c.Operands) < 2 || c.has("-cmd", "-init") {
		return false
	}
	for _, w := range c.Operands[1:] {
		if w.Dynamic || !sqlQuestion.MatchString(w.Text) || sqlActs.MatchString(w.Text) {
			return false
		}
	}
	return true
}
