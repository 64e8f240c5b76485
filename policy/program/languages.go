package program

// languages are interpreters and shells. A file that is an operand is code; without one
// they read it from their standard input.
var languages = family{
	"python python3 python2 pypy pypy3": {opts: `
		-[bBdEhiIOPqsSuvVx] -c=inline -m=rest -W= -X= --check-hash-based-pycs= --version --help`, operands: "script skip*", style: stop, versioned: true, then: python},
	"perl": {opts: `
		-[acfgnpsStTuUvVwWX] -0? -C? -d? -D? -e=inline -E=inline -F=inline -i? -I=load -l? -m=:opaque-exec -M=:opaque-exec -x?`, operands: "script read*", style: stop, versioned: true, then: interpreter},
	"ruby": {opts: `
		-[acdhlLnpsSvwWy] -0? -C=dir -e=inline -E= -F= -i? -I=load -K= -r=load -T? -x? --encoding= --external-encoding=
		--internal-encoding= --disable= --enable= --jit --yjit --version --copyright --verbose --backtrace-limit= --dump=`, operands: "script skip*", style: stop, versioned: true, then: interpreter},
	"node nodejs": {opts: nodeOptions, operands: "script skip*", style: stop, versioned: true, then: interpreter},
	"php": {opts: `
		-[aCeHilmnqsvw] -b= -c|--php-ini=load -d|--define=:opaque-exec -f|--file=script! -r|--run=inline
		-B|--process-begin=inline -R|--process-code=inline -F|--process-file=script -E|--process-end=inline
		-S|--server=:raw-socket -t|--docroot=read -z|--zend-extension=load --ini --rf= --rc= --re= --ri= --syntax-check --info
		--modules --version --no-php-ini`, operands: "script skip*", style: stop, versioned: true, then: interpreter},
	"lua luajit texlua": {opts: "-[ivEW] -e=inline -l=load -b -j= -O?", operands: "script skip*", style: stop, versioned: true, then: interpreter},
	"tclsh wish":        {opts: "-encoding=", operands: "script skip*", style: stop, versioned: true, then: interpreter},
	"R Rscript": {opts: `
		-e=inline -f|--file=script! --args=rest --vanilla --slave --no-save --no-restore --quiet --default-packages= -g=
		--version`, operands: "script skip*", style: stop, then: interpreter},
	"julia": {opts: `
		-[iqvh] -e|--eval=inline -E|--print=inline -L|--load=load -J|--sysimage=load --project? -p|--procs= -t|--threads= -C=
		--startup-file= --color= --machine-file=load --compile= --version -O?`, operands: "script skip*", style: stop, versioned: true, then: interpreter},
	"octave octave-cli": {opts: "--eval=inline -p=load -q --no-gui --persist --no-init-file", operands: "script skip*", style: stop, then: interpreter},
	"ghc runghc runhaskell ghci": {opts: `
		-e=inline -o=write -package= -O? -Wall --make -i? -F:opaque-exec -pgmF=exec -pgmc=exec -pgml=exec -pgmP=exec -cpp`, operands: "script skip*", tags: "workspace-code", style: words, then: interpreter},
	"groovy scala kotlin kscript jshell": {opts: "-e=inline -cp|-classpath|--class-path=load -D=", operands: "script skip*", style: words, then: interpreter, open: true},
	"elixir iex  escript erl": {opts: `
		-e|--eval=inline -r=load -S= --rpc-eval+ -pa=load -pz=load -eval=inline -s= -run= -noshell`, operands: "script skip*", style: stop, then: interpreter, open: true},
	"clojure clj bb lein": {opts: `
		-e|--eval=inline -i|--init=load -m|--main= -r -x= -Sdeps=:opaque-exec -f=script!`, operands: "script skip*", style: stop, then: interpreter, open: true},
	"swipl guile racket sbcl clisp gst mit-scheme csi chicken": {opts: `
		-c=inline -e|--eval=inline -g=inline -l|--load=load -s=script! -q --script=script! -x=inline -f=load -t=`, operands: "script skip*", style: stop, then: interpreter, open: true},
	"osascript": {opts: "-e=inline -l= -i -s=", operands: "script skip*", style: stop, then: interpreter},
	"pwsh powershell": {opts: `
		-Command=inline -c=inline -EncodedCommand=inline -ec=inline -e=inline -File=script! -f=script! -NoProfile
		-NonInteractive -NoLogo -ExecutionPolicy= -WorkingDirectory=dir -Version`, operands: "script skip*", style: words, then: interpreter},
	"deno": {opts: "--config=load -c=load --import-map=load -q", style: stop, versioned: true, tags: "workspace-code", open: true, then: bareInterpreter, subs: denoSubs},
	"bun": {opts: `
		-e|--eval=inline -p|--print=inline -r|--preload=load -c|--config=load --cwd=dir --env-file=load --shell=`, style: stop, open: true, tags: "workspace-code", then: bareInterpreter, subs: append([]sub{{"build repl", row{operands: "skip*"}}}, nodePackages...)},
	"tsx ts-node esno": {opts: `
		-e|--eval=inline -p|--print=inline -r|--require=load --import=load --loader=load -P|--project=load -T --esm
		--tsconfig=load`, operands: "script skip*", style: stop, then: interpreter, open: true},
	"dc": {opts: "-e|--expression=inline -f|--file=script -x -i", operands: "script*", then: interpreter},
	"bc": {opts: "-[ilqswvhxP] -e|--expression= -f|--file=read -m --mathlib --quiet --scale=", operands: "read*", stdin: always},
	"m4": {opts: "-[EeGiPQs] -D= -U= -I=load -R=load -o=write -F=write -t= -d?", operands: "script*", then: interpreter},
	"irb pry ipython  bpython jupyter jupyter-lab jupyter-notebook": {opts: "-c=inline -e=inline -r=load -m=", operands: "script skip*", open: true, then: interpreter, style: stop},
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
		-[abcefhiklmnprtuvxBCDEHPTs] -o= -O= --rcfile=load --init-file=load --login --norc --noprofile --posix --restricted
		--verbose --debugger --dump-strings --dump-po-strings --pretty-print`, operands: "script skip*", style: stop, then: shellProgram},
}

const nodeOptions = `
	-[cvh] -e|--eval=inline -p|--print=inline -r|--require=load --import=load --loader=load --experimental-loader=load
	--env-file=load --env-file-if-exists=load -C|--conditions= --inspect?:raw-socket --inspect-brk?:raw-socket
	--inspect-port= --inspect-wait? --check --interactive:interactive-shell -i:interactive-shell --test:workspace-code
	--test-name-pattern= --test-reporter=load --test-reporter-destination=write --test-concurrency= --test-timeout=
	--test-only --test-shard= --test-coverage-include= --test-coverage-exclude= --experimental-test-coverage
	--watch:longrun --watch-path= --run=:workspace-code --input-type= --max-old-space-size= --max-semi-space-size=
	--stack-size= --stack-trace-limit= --trace-warnings --trace-deprecation --trace-uncaught --trace-exit --no-warnings
	--no-deprecation --throw-deprecation --pending-deprecation --unhandled-rejections= --enable-source-maps
	--experimental-vm-modules --experimental-strip-types --experimental-transform-types --experimental-modules
	--experimental-json-modules --experimental-specifier-resolution= --experimental-default-type= --experimental-sqlite
	--experimental-require-module --preserve-symlinks --preserve-symlinks-main --expose-gc --allow-natives-syntax
	--harmony --permission --allow-fs-read= --allow-fs-write= --allow-child-process --allow-worker --disable-warning=
	--dns-result-order= --icu-data-dir=read --openssl-config=load --openssl-legacy-provider --use-openssl-ca
	--use-system-ca --tls-min-v1.2 --tls-keylog=write --redirect-warnings=write --cpu-prof --cpu-prof-dir=write
	--cpu-prof-name=write --heap-prof --heap-prof-dir=write --heapsnapshot-signal= --prof --prof-process --perf-basic-prof
	--report-dir=write --diagnostic-dir=write --trace-event-categories= --title= --v8-options --zero-fill-buffers
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
	{"run", row{operands: "script skip*", opts: "-[A] -r? --preload=load --env-file?load"}},
	{"eval repl", row{opts: "-p", operands: "inline*", then: inlineProgram}},
	{"test bench fmt lint check doc info cache compile bundle task types completions init coverage vendor", row{opts: "-o|--output=write"}},
	{"install|i|add uninstall remove|rm upgrade outdated", row{tags: "config-or-install"}},
	{"publish deploy", row{tags: "publish"}},
	{"jupyter lsp serve", row{tags: "longrun"}},
}
