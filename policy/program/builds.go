package program

// nodeTools are run by npx, too, which takes those of the workspace.
const nodeTools = `
	eslint prettier biome oxlint standard xo stylelint jest vitest mocha ava tap playwright cypress karma jasmine
	webpack vite rollup esbuild parcel swc babel svelte-check astro next nuxt remix ng vue-cli-service storybook
	changeset lint-staged ncu npm-check-updates npm-run-all run-s run-p wireit`

// builds are programs that build, test, format and check a project. They run its code.
var builds = family{
	"make gmake bmake": {opts: `
		-[bBdeikmnpqrRsStvwh] -C|--directory=dir -f|--file|--makefile=script -E|--eval=sh:opaque-exec -I|--include-dir=load -j|--jobs?
		-l|--load-average? -o|--old-file= -W|--what-if= -O|--output-sync? --always-make --debug? --environment-overrides
		--ignore-errors --keep-going --just-print --dry-run --recon --print-data-base --question --no-builtin-rules --silent
		--quiet --touch --trace --print-directory --no-print-directory --warn-undefined-variables --shuffle? --version --help
		-L --check-symlink-times`, tags: "workspace-code", operands: "skip*", then: makefile},
	"cmake cpack": {opts: "-S=read" + cmakeOptions, operands: "read*", tags: "workspace-code", then: cmake},
	"ctest":       {opts: "-S=script" + cmakeOptions, operands: "read*", tags: "workspace-code", then: cmake},
	"ninja samu":  {opts: "-[nvh] -C=dir -f=conf -j= -k= -l= -d= -t= -w= --version --verbose --quiet", operands: "skip*", tags: "workspace-code"},
	`
		meson scons waf bazel bazelisk buck buck2 pants please tup xmake premake5 b2 qmake
		configure rake just mage invoke inv fab ant sbt mill earthly dagger nx
		turbo lerna grunt gulp `: {tags: "workspace-code", open: true, opts: `
		-f|--file|--justfile|--makefile=conf -C=dir -e|--eval=:opaque-exec --config=conf --shell=exec --shell-arg=`},
	"autoconf automake autoreconf aclocal libtoolize": {opts: "-o|--output=write -I|--include=load -B|--prepend-include=load", tags: "workspace-code", open: true, operands: "read*"},
	"task":                   {opts: "-t|--taskfile=conf -d|--dir=dir -o|--output=", tags: "workspace-code", open: true},
	"rspec cucumber rubocop": {opts: "-r|--require=load -I=load -c|--config=conf -O|--options=conf -o|--out=write", tags: "workspace-code", open: true},
	"nox tox":                {opts: "-f|--noxfile|-c|--conf=conf --workdir=write", tags: "workspace-code", open: true},
	"uvicorn gunicorn hypercorn daphne flask": {opts: `
		-c|--config=conf --app-dir=load --pythonpath=load --chdir=load --env-file=load --log-config=load --log-file=write
		--access-logfile=write --error-logfile=write -p|--pid= -D|--daemon:longrun`, tags: "workspace-code", open: true, operands: "skip*"},
	"mvn mvnw mvnd gradle gradlew": {opts: `
		-f|--file=conf -s|--settings=conf -gs=load -I|--init-script=load -b|--build-file=load -c|--settings-file=conf
		-p|--project-dir=dir -D= -P= -T= -pl= -x= --tests= -g=write --include-build=load --gradle-user-home=write -rf= -l|--log-file=write -t|--toolchains=load -gt=load`, tags: "workspace-code", open: true, operands: "skip*", style: words, then: mavenGoals},
	"gcc cc g++ c++ c89 c99 clang clang++ tcc icc icx gfortran cpp nvcc emcc em++ ": {opts: `
		-o=write -c -S -E -v -w -g? -O? -W? -f? -m? -D= -U= -I= -L=read -l= -B=load -x= -T=read -u= -z= -e= -include=read
		-imacros=read -isystem= -iquote= -idirafter= -isysroot= --sysroot= -MF=write -MT= -MQ= -MD -MMD -M -MM -MP -std?
		-specs=load --specs=load -wrapper= -fplugin=load -Xclang=:opaque-exec -Xlinker= -Xpreprocessor= -Xassembler= -Wl? -load=load
		-param= --param= -arch= -target= -march? -framework= -aux-info=write -dumpbase= -dumpdir=write -print-search-dirs
		-pthread -static -shared -rdynamic -pipe -ansi -pedantic -no-pie -pie -nostdlib -nostdinc -s -r --version
		-save-temps?:config-or-install -ld-path=exec -p? -d? -n? -t? -X? -R= -A= -Q -H -C -P -N -a? --target-help --help? -###
		-# -G= -F= -iframework= -undef -traditional -no-canonical-prefixes -fuse-ld=exec`, operands: "args*", then: compiler},
	`
		ld ld.lld ld.gold gold lld mold as nm objdump objcopy strip size addr2line c++filt readelf  gprof gcov lcov
		genhtml llvm-objdump llvm-nm dsymutil install_name_tool otool lipo patchelf ldd`: {opts: "-o|--output=write -plugin=load --plugin=load -T=read -L=read -l= -O= -I=", operands: "args*", open: true},
	"go": {style: words, open: true, subs: goSubs, opts: "-C=dir"},
	"gofmt goimports gofumpt": {opts: `
		-[dels] -w:edits -r= -local= -cpuprofile=write -srcdir= -extra -lang= -modpath= -format-only`, operands: "read*", style: words, stdin: 1},
	`
		staticcheck golangci-lint golint revive errcheck govulncheck gosec gotestsum ginkgo gopls dlv benchstat deadcode
		ineffassign mockgen wire stringer sqlc buf protoc protoc-gen-go`: {tags: "workspace-code", open: true, opts: "-c|--config=conf -o=write -raw-command=rest --plugin=load", operands: "skip*"},
	"javac java kotlinc scalac javap jdb jstack jmap jps jcmd jlink jpackage javadoc jarsigner keytool": {then: javaFlags, opts: `
		-cp|-classpath|--class-path=read -p|--module-path=read -jar=script -d=write -s=write -m|--module= -agentlib?load
		-agentpath?load -javaagent?load -processorpath|--processor-path=load -processor=:opaque-exec -XX?
		-Xbootclasspath? -D? -X? --add-modules= --add-opens= --add-exports= --source= --release= -source= -target= -encoding=
		-sourcepath= -version --version -h= -J?`, operands: "skip*", style: words, tags: "workspace-code", open: true},
	"dotnet msbuild nuget": {open: true, tags: "workspace-code", opts: `
		-o|--output=write -c|--configuration= -f|--framework= -r|--runtime= -p= --project=conf -v=`, subs: []sub{
		{`
		build test run restore clean format watch msbuild publish pack sln list new dev-certs ef --info --version
		--list-sdks --list-runtimes`, row{}}, {"add remove tool workload user-secrets", row{tags: "config-or-install"}}, {"nuget push", row{tags: "publish"}}}},
	"swift swiftc xcodebuild xcrun swiftlint swiftformat": {tags: "workspace-code", open: true, opts: "-e=inline -o=write"},
	"rustc rustfmt clippy-driver rustdoc  ": {opts: `
		-o=write --out-dir=write -C= -L= -l= --extern= --edition= --crate-type= --crate-name= --emit= --cfg=
		--check --config= --config-path=conf --target= -O -g -W= -A= -D= -F= --cap-lints= --test --print= -vV -V --version
		--explain= --sysroot= -Z=:opaque-exec`, operands: "args*", open: true, then: compiler},
	"cargo": {opts: `
		--config=conf:opaque-exec -Z= -C=dir --color= --manifest-path=conf --target-dir=write --target= -p|--package=
		-j|--jobs= -F|--features= --profile= -q -v --locked --offline --frozen`, open: true, tags: "workspace-code", subs: cargoSubs},
	`
		zig nim nimble crystal shards v dune opam ocaml ocamlopt stack cabal elm purs spago gleam mix rebar3 dub dmd ldc2 odin
		hare fpc lazbuild gnatmake`: {tags: "workspace-code", open: true, opts: "-o=write --out=write -e=inline"},
	"tsc": {opts: `
		-[bdhvw] -p|--project=conf --outDir=write --outFile=write --declarationDir=write --tsBuildInfoFile=write
		--generateTrace=write --generateCpuProfile=write --rootDir= --target= --module= --lib= --jsx= --moduleResolution=
		--types= --baseUrl= --watch --noEmit:!changes --init --build --version --strict --pretty`, operands: "read*", tags: "changes", style: words, open: true},
	nodeTools: {tags: "workspace-code", open: true, opts: `
		-c|--config=conf -o|--output-file|--outfile=write --outdir=write --coverageDirectory=write
		--resolve-plugins-relative-to=load --rulesdir=load --plugin=load --parser=load --globalSetup=conf --setupFiles=conf
		--loader=load -r|--require=conf`},
	"cross-env":    {tags: "workspace-code", style: stop, open: true, then: crossEnv},
	"concurrently": {operands: "sh*", tags: "workspace-code", open: true},
	"rimraf":       {operands: "delete*", tags: "workspace-code", open: true},
	"pytest py.test unittest  nose2 behave robot coverage hypothesis locust": {opts: `
		-p= -c=conf --rootdir=load --debug?write --report-log=write --junitxml=write --junit-xml=write --html=write --cov-report=to --cov= -k= -m= -n= -W= -o|--override-ini=:opaque-exec
		--basetemp=delete --confcutdir=read --pdb:interactive-shell --pdbcls=load --log-file=write --pastebin=:publish
		--result-log=write --maxfail= --tb= --durations= --ignore= --deselect= --timeout=`, tags: "workspace-code", open: true, operands: "skip*", then: tests},
	"black isort autopep8 yapf pyupgrade autoflake": {opts: formatOptions, operands: "change*", open: true},
	"ruff": {opts: formatOptions, open: true, subs: []sub{
		{"format", row{operands: "change*", tags: "changes"}}, {"*", row{opts: "--fix:edits,changes", operands: "read*"}}}},
	"mypy pyright pylint flake8 pycodestyle pydocstyle bandit vulture pyflakes pytype basedpyright ty": {opts: `
		-c= --config-file|--rcfile|--config=conf --load-plugins=load --init-hook=:opaque-exec -p= -m= --python-executable=exec
		--output-file=write -o=write --junit-xml=write --html-report=write --cache-dir=write --install-types:config-or-install`, operands: "read*", tags: "workspace-code", open: true},
	`
		shellcheck shfmt yamllint markdownlint markdownlint-cli2 vale actionlint checkov tflint ansible-lint jsonlint
		clang-format clang-tidy cppcheck cpplint uncrustify astyle stylua luacheck ktlint checkstyle pmd spotbugs 
		standardrb phpstan phpcs psalm php-cs-fixer buildifier dprint taplo sqlfluff djlint hclfmt nixfmt alejandra
		 editorconfig-checker lychee`: {opts: "-c|--config|--rcfile=conf -w|--write:edits -i:edits -o=write --fix:edits -load=load --plugins=load", operands: "read*", open: true, stdin: 1},
	`
		hugo jekyll mkdocs sphinx-build zola mdbook docusaurus eleventy pandoc asciidoctor pdflatex xelatex lualatex latexmk
		bibtex tex latex typst doxygen plantuml dot neato graphviz mmdc`: {opts: `
		-o|--output|-output-directory=write -d|--destination=write -F|--filter=exec -L|--lua-filter=load
		-shell-escape:opaque-exec --shell-escape:opaque-exec -r=load --template=read --extract-media=write --pdf-engine=exec
		-H=read -B=read -A=read -f= -t= -e=:opaque-exec -c=conf`, operands: "read*", open: true},
}

const cmakeOptions = `
	-B=write -P=script -C=load -G= -T= -A= -D= -U= -E=rest --build=dir --install=dir --preset= --target= -t=
	--config= --parallel? -j? --toolchain=load --open= --fresh --log-level= --trace-redirect=write --graphviz=write
	--prefix=write --component= --strip -L= -R= -I= -V -VV -W= --output-on-failure --test-dir=dir -O=write
	--build-and-test+ -N --verbose -v --clean-first --debug-output --list-presets? --workflow --version --help
	--no-warn-unused-cli -LE= -LA -LH -LAH --system-information?`

const formatOptions = `
	-c|--code= --config=conf --settings-path=conf --settings-file=conf -l|--line-length= -t|--target-version= --select=
	--ignore= --extend-select= --exclude= --output-file|-o=write --output-format= --stdin-filename= -q -v --check:looks
	--diff:looks --cache-dir=write --style=`

const goBuild = `
	-C=dir -o=write -toolexec=exec -exec=exec -vettool=load -overlay=load -modfile=load -run= -bench= -count= -timeout=
	-ldflags= -gcflags= -asmflags= -gccgoflags=:opaque-exec -tags= -mod= -p= -coverprofile=write -cpuprofile=write -memprofile=write
	-blockprofile=write -mutexprofile=write -trace=write -outputdir=write -covermode= -coverpkg= -parallel= -cpu=
	-test.cpuprofile=write -test.memprofile=write -test.blockprofile=write -test.mutexprofile=write -test.coverprofile=write
	-test.trace=write -test.testlogfile=write -test.outputdir=write -test.gocoverdir=write -test.fuzzcachedir=write
	-benchtime= -list= -fuzz= -fuzztime= -skip= -shuffle= -vet= -buildmode= -compiler=:opaque-exec -installsuffix= -pkgdir=write
	-pgo=read -f=`

var goSubs = []sub{
	{"build run test vet", row{opts: goBuild, operands: "skip*", tags: "workspace-code", then: goFlags}},
	{"list doc version help bug", row{opts: goBuild, then: goFlags}},
	{"fmt clean fix", row{opts: goBuild, tags: "changes", then: goFlags}},
	{"env", row{opts: "-w:config-or-install -u:config-or-install -json -changed"}},
	{"telemetry", row{tags: "config-or-install"}},
	{"generate", row{opts: goBuild, tags: "workspace-code"}},
	{"tool", row{opts: goBuild + " -tools=load -http=:raw-socket -output=write", tags: "workspace-code", subs: []sub{
		{"addr2line buildid cover nm objdump pprof test2json", row{operands: "from*"}}, {"*", row{tags: "config-or-install"}}}}},
	{"install get", row{opts: goBuild, tags: "config-or-install", then: goFlags}},
	{"mod work", row{opts: goBuild + " -go= -require=:config-or-install -replace=:config-or-install -tool=:config-or-install -toolchain=:config-or-install -module= -use=read", tags: "changes", then: goFlags}},
}

var cargoSubs = []sub{
	{`
		build|b test|t check|c run|r bench doc|d clippy fmt fix tree metadata nextest miri expand audit outdated deny llvm-cov`, row{opts: "--out-dir=write --artifact-dir=write --config-path=load --message-format= --bin= --example= --test="}},
	{"clean update fetch generate-lockfile locate-project pkgid search version verify-project read-manifest package info report", row{}},
	{"new init vendor", row{opts: "--name= --vcs= --edition= --registry= --respect-source-config -s|--sync=read", operands: "write"}},
	{"add remove|rm install uninstall upgrade binstall", row{tags: "config-or-install", opts: `
		--git=url --path=read --registry= --index=url --root=write --version= --dev --build`}},
	{"publish login logout owner yank", row{tags: "publish"}},
	{"help", row{tags: "pager"}},
}
