package program

import (
	"slices"
	"strings"
)

// packages are package managers. What they install can run code.
var packages = family{
	"npm":           {opts: nodeGlobals + " -c|--call=sh", open: true, then: packageScripts, subs: nodePackages},
	"pnpm yarn":     {opts: nodeGlobals, open: true, then: packageScripts, subs: append([]sub{{"*", row{}}}, nodePackages...)},
	"npx pnpx bunx": {opts: nodeGlobals + " -c|--call=sh -p|--package= -y|--yes", style: stop, operands: "skip*", tags: "config-or-install", then: npx, open: true},
	"corepack fnm n volta asdf mise rtx pyenv rbenv nodenv goenv sdk jenv ghcup juliaup proto": {open: true, subs: append([]sub{{"exec run", row{tags: "config-or-install", operands: "run"}}}, versionManager...)},
	"rustup nvm": {open: true, subs: append([]sub{ // a version stands before the program
		{"toolchain target component override", row{subs: versionManager}}, {"exec run", row{tags: "config-or-install", operands: "skip run"}}}, versionManager...)},
	"pip pip3": {opts: pipGlobals, open: true, versioned: true, subs: pipSubs},
	"uv": {opts: "--config-file=load --directory=dir --project=read --cache-dir=write -q -v -p|--python=", open: true, subs: []sub{
		{"run", row{opts: `
		--with= --with-requirements=read --with-editable=read -m|--module --env-file=load -s|--script --extra= --group=
		--index=url --default-index=url --index-url=url --extra-index-url=url --package=`, operands: "run", tags: "wrapper workspace-code", style: stop, then: runsURL}},
		{"tree export version cache python help", row{opts: `
		-o|--output-file=write --index=url --default-index=url --index-url=url --extra-index-url=url`, operands: "skip*"}},
		{"sync lock venv init build", row{opts: `
		-o|--output-file=write --index=url --default-index=url --index-url=url --extra-index-url=url`, operands: "skip*", tags: "changes"}},
		{"add remove|rm", row{tags: "config-or-install", opts: "-r|--requirements=read --index=url"}},
		{"pip", row{subs: pipSubs}},
		{"tool|x self", row{tags: "config-or-install"}},
		{"publish auth", row{tags: "publish"}}}},
	"uvx pipx": {tags: "config-or-install", open: true},
	"poetry pdm hatch pipenv rye pixi": {opts: "-C|--directory=dir -P|--project=dir", open: true, subs: []sub{
		{"run", row{operands: "run", style: stop, tags: "wrapper workspace-code"}},
		{`
			install sync lock show check env about version help list search export build init new update shell graph
			verify info test fmt format`, row{opts: "-o|--output=write -r=read", tags: "workspace-code"}},
		{"add remove|rm uninstall self python source cache config plugin", row{tags: "config-or-install"}},
		{"publish", row{tags: "publish"}}}},
	"conda mamba micromamba": {opts: "-n|--name= -p|--prefix=write -f|--file=read", open: true, subs: []sub{
		{"list info search config env activate deactivate --version help", row{}},
		{"run", row{operands: "run", style: stop, tags: "wrapper workspace-code"}},
		{"install create update|upgrade remove|uninstall clean init", row{tags: "config-or-install"}}}},
	"gem": {opts: "-C=dir --config-file=load", open: true, subs: []sub{
		{`
			list search info|specification contents dependency environment|env which outdated help build check query stale`, row{}},
		{"install|i update uninstall cleanup pristine sources cert fetch unpack open exec", row{opts: "-i=write -n=write -s=url --source=url -e=exec", tags: "config-or-install"}},
		{"push yank owner signin signout", row{tags: "publish"}}}},
	"bundle bundler": {opts: "--gemfile=load --path=write", open: true, tags: "workspace-code", subs: []sub{
		{"exec", row{operands: "run", style: stop, tags: "wrapper opaque-exec", then: bundleExec}},
		{"install|i list|show info outdated check lock help platform env package|cache pack viz doctor licenses", row{}},
		{"add remove update config init gem clean open console plugin inject binstubs", row{tags: "config-or-install"}}}},
	"composer": {opts: "-d|--working-dir=dir", open: true, tags: "workspace-code", subs: []sub{
		{`
			install|i show|info outdated validate licenses about check-platform-reqs depends|why prohibits|why-not search
			status suggests test run-script|run dump-autoload|dumpautoload diagnose audit fund list help`, row{}},
		{`
			require|r remove|rm update|u|upgrade global config create-project init self-update|selfupdate exec reinstall
			bump archive clear-cache`, row{tags: "config-or-install"}}}},
	"apt apt-get aptitude": {opts: `
		-o|--option=:opaque-exec -c|--config-file=load -t= -y -q -s|--simulate|--dry-run --no-install-recommends`, open: true, subs: []sub{
		{"list search show policy depends rdepends changelog help moo why madison check", row{}},
		{`
			update install upgrade full-upgrade dist-upgrade remove purge autoremove autoclean clean reinstall build-dep
			edit-sources satisfy download source mark`, row{tags: "config-or-install"}}}},
	"apt-cache apt-file apt-show-versions aptly dpkg-query debtree": {opts: "-o|--option=:opaque-exec -c=load", open: true},
	"apt-key add-apt-repository apt-mark apt-config dpkg-reconfigure update-alternatives alternatives snap flatpak port fink winget choco scoop": {open: true, bare: "config-or-install", subs: []sub{
		{"list search info show find version history showhold dump", row{}}, {"*", row{tags: "config-or-install"}}}},
	"dpkg": {opts: `
		-l|--list -L|--listfiles -S|--search -s|--status -p|--print-avail -c|--contents -I|--info -V|--verify -C|--audit
		--get-selections --print-architecture --print-foreign-architectures --compare-versions -i|--install:config-or-install -r|--remove:config-or-install
		-P|--purge:config-or-install --configure:config-or-install --unpack:config-or-install --force-all:config-or-install
		--root=write:config-or-install --instdir=write:config-or-install --admindir=read --pre-invoke=sh --post-invoke=sh
		--add-architecture:config-or-install
		-x|--extract|-X|--vextract|-e|--control|-R|--raw-extract|-b|--build:config-or-install`, operands: "skip*"},
	"rpm": {opts: `
		-[qlpcdfgRsKvV] -a --queryformat= --qf= -i|--install:config-or-install -U|--upgrade:config-or-install
		-F|--freshen:config-or-install -e|--erase:config-or-install --import=read:config-or-install --eval=:opaque-exec
		-E=:opaque-exec --pipe=sh --define=:opaque-exec --root=write --dbpath=read --rcfile=load --macros=load --load=load
		--all --list --info --requires --provides --whatprovides= --whatrequires= --changelog --scripts --last --file --package`, operands: "skip*", then: rpm},
	"pacman yay paru apk yum dnf microdnf zypper": {tags: "config-or-install", open: true},
	"brew": {open: true, subs: []sub{
		{`
			list|ls info search desc deps uses outdated config doctor help --version --prefix --cellar --cache log leaves
			home cat commands`, row{}},
		{`
			install upgrade update uninstall|remove|rm reinstall tap untap link unlink services cleanup pin unpin bundle
			autoremove`, row{tags: "config-or-install"}}}},
	"nix nix-env nix-shell nix-build nix-store nixos-rebuild home-manager guix": {tags: "config-or-install opaque-exec", open: true},
	"twine": {tags: "publish", open: true},
	"easy_install luarocks cpan cpanm ppm  pear pecl tlmgr  vcpkg conan spack helmfile krew cocoapods pod carthage mas": {tags: "config-or-install", open: true},
}

const nodeGlobals = `
	--prefix=dir -C|--dir=dir --cwd=dir -w|--workspace= --filter= --script-shell=exec:opaque-exec --shell=exec:opaque-exec
	--node-options=:opaque-exec --registry=url:opaque-exec --userconfig=load --globalconfig=load --use-yarnrc=load
	--loglevel= --cache=write --global-style --node-gyp=exec --git=exec --editor=exec --viewer=exec
	--browser=exec --init-module=load --onload-script=load -g|--global:config-or-install --location=:config-or-install
	--tag= --otp= --access= --omit= --include= --store-dir=write --modules-folder=write
	--logs-dir=write --pnpmfile=load --global-pnpmfile=load --virtual-store-dir=write --modules-dir=write
	--lockfile-dir=write --global-dir=write`

var nodePackages = []sub{
	{"test|t|tst run|run-script|rum start stop restart", row{operands: "skip*", tags: "workspace-code"}},
	{`
			ci|clean-install|ic list|ls|la|ll view|info|show|v outdated why|explain search pack version root
			bin prefix fund ping diff doctor query completion licenses  prune dedupe|ddp rebuild|rb store fetch
			import check constraints`, row{tags: "workspace-code", opts: "--pack-destination=write"}},
	{"audit", row{tags: "workspace-code", opts: "--fix:config-or-install", then: auditFix}},
	{"node npm", row{operands: "skip*", style: stop, then: yarnInner}},
	{"workspace", row{operands: "skip*", style: stop, tags: "workspace-code", then: yarnInner}},
	{"workspaces", row{operands: "skip*", style: stop, tags: "workspace-code"}},
	{"deploy", row{operands: "write", tags: "workspace-code"}},
	{"policies patch-commit unplug self-update server", row{tags: "config-or-install"}},
	{"install|i|in|ins|add", row{operands: "skip:config-or-install*", tags: "workspace-code", then: nodeInstall}},
	{"update|up|upgrade uninstall|remove|rm|un|unlink|r link|ln", row{operands: "skip*", tags: "workspace-code config-or-install", then: nodeInstall}},
	{"help", row{tags: "pager"}},
	{"exec|x dlx create|init|innit", row{operands: "skip*", opts: "-p|--package= -y|--yes", tags: "workspace-code config-or-install", style: stop, then: nodeRuns}},
	{"config|c set get cache edit plugin patch setup env approve-builds global", row{then: nodeConfig}},
	{`
			publish unpublish login|adduser|add-user logout owner|author deprecate dist-tag|dist-tags access team token
			hook org star unstar profile trust whoami`, row{tags: "publish workspace-code"}},
}

var versionManager = []sub{
	{"list ls version versions current which show help list-remote ls-remote", row{}},
	{"*", row{tags: "config-or-install"}},
}

const pipGlobals = `
	--python=exec --proxy=url:net-override --cert=read --client-cert=read --cache-dir=write --log=write --timeout=
	--retries= --trusted-host=:net-override --isolated --no-input --require-virtualenv -q -v --disable-pip-version-check`

const pipInstall = `
	-r|--requirement=read -c|--constraint=read -e|--editable= -i|--index-url=url:opaque-exec
	--extra-index-url=url:opaque-exec -f|--find-links=url:opaque-exec -t|--target=write --root=write --prefix=write
	--src=write -d|--dest=write -w|--wheel-dir=write --build-option=:opaque-exec --global-option=:opaque-exec
	--install-option=:opaque-exec --config-settings= --platform= --python-version= --implementation= --abi= --report=write
	--upgrade-strategy= --progress-bar= --only-binary= --no-binary= -U|--upgrade --user
	--break-system-packages:config-or-install`

var pipSubs = []sub{
	{"hash", row{operands: "read*"}},
	{"list show freeze check search help debug inspect index", row{opts: "-r=read --format= -i|--index-url=url:opaque-exec --path=read"}},
	{"install download wheel", row{opts: pipInstall, operands: "skip*", tags: "workspace-code", then: pipNames}},
	{"uninstall cache sync", row{opts: "-r|--requirement=read -y", operands: "skip*", tags: "config-or-install"}},
	{"compile", row{opts: "-o|--output-file=write", operands: "read*"}},
	{"config", row{opts: "--editor=exec:opaque-exec --global --user --site", subs: []sub{
		{"list get debug", row{}}, {"edit", row{tags: "editor config-or-install"}}, {"*", row{tags: "config-or-install"}}}}},
}

// packageScripts: all of them run the project's code. Settings may stand among the options.
func packageScripts(c *call) {
	for _, flag := range c.Flags {
		if strings.HasPrefix(flag, "--config.") {
			c.execFlag(flag)
		}
	}
	c.tag("workspace-code")
}

// nodeInstall: packages may be files or URLs.
func nodeInstall(c *call) {
	for _, w := range c.Operands {
		if strings.HasPrefix(w.Text, "http://") || strings.HasPrefix(w.Text, "https://") || strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "../") || strings.HasPrefix(w.Text, "file:") {
			c.place(from, w, "argument")
		}
	}
}

func auditFix(c *call) {
	if len(c.Operands) > 0 && c.Operands[0].Text == "fix" {
		c.tag("config-or-install")
	}
}

func nodeConfig(c *call) {
	looks := c.Sub == "get" || len(c.Operands) > 0 && slices.Contains([]string{"get", "list", "ls", "verify", "dir"}, c.Operands[0].Text)
	if !looks {
		c.tag("config-or-install")
	}
	for _, w := range c.Operands {
		if strings.Contains(strings.ToLower(w.Text), "auth") || strings.Contains(strings.ToLower(w.Text), "password") {
			c.tag("dump-env")
		}
	}
}

// yarnInner runs another program, or another subcommand after some words: yarn node x.js,
// yarn npm publish, yarn workspace web add x.
func yarnInner(c *call) {
	name, words := c.name, c.Operands
	switch {
	case c.Sub == "node":
		name = "node"
	case c.Sub == "workspace" && len(words) > 0:
		words = words[1:]
	}
	if len(words) > 0 || c.Sub == "node" {
		c.run(c.name, append([]Word{{Text: name}}, words...), c.name)
	}
}

// npx runs a package, which it fetches unless it is one of the workspace's tools.
func npx(c *call) {
	if len(c.Operands) == 0 || c.has("-c") {
		return
	}
	name := c.Operands[0].Text
	if !slices.Contains(strings.Fields(nodeTools+" concurrently cross-env rimraf tsc tsx ts-node prisma nx turbo lerna"), name) {
		return
	}
	if !c.has("-p", "-y") {
		c.untag("config-or-install")
	}
	c.Runs = append(c.Runs, Run{Via: c.name, Argv: c.Operands, Wrapper: c.name, KeepStdin: true})
}

// nodeRuns is npm exec and its like. That of pnpm and yarn runs what is installed.
func nodeRuns(c *call) {
	switch {
	case c.Sub == "exec" && c.name != "npm" && len(c.Operands) > 0:
		c.untag("config-or-install")
		c.run(c.name+" exec", c.Operands, c.name)
	case c.Sub == "exec":
		npx(c)
	case c.Sub == "create" && c.name == "npm" && len(c.Operands) == 0:
		c.untag("config-or-install")
	}
}

// bundleExec: tasks can be anything; these only test and check.
func bundleExec(c *call) {
	if len(c.Operands) > 0 && slices.Contains([]string{"cucumber", "rspec", "rubocop"}, c.Operands[0].Text) {
		c.untag("opaque-exec")
	}
}

// pipNames: names are new packages; files of requirements and folders are the workspace's.
func pipNames(c *call) {
	for _, w := range c.values("-r") {
		if strings.Contains(w.Text, "/") {
			c.codeFile(w, "-r") // its lines name what is installed
		}
	}
	for _, w := range slices.Concat(c.Operands, c.values("-e")) {
		switch _, url, named := strings.Cut(w.Text, "@ "); { // NAME @ URL
		case strings.HasPrefix(w.Text, ".") || strings.HasPrefix(w.Text, "/"):
			c.codeFile(w, "argument")
			continue
		case named && strings.Contains(url, "://"):
			c.fetch(rest(w, strings.TrimPrefix(url, "git+")), "GET")
		case strings.Contains(w.Text, "://"):
			c.fetch(rest(w, strings.TrimPrefix(w.Text, "git+")), "GET")
		}
		c.tag("config-or-install")
	}
}

// rpm: -q and -V only look, whatever follows.
func rpm(c *call) {
	if c.has("-q", "--query", "-V", "--verify") {
		c.untag("config-or-install")
	}
}

// runsURL: uv run fetches a script by its URL.
func runsURL(c *call) {
	if len(c.Operands) > 0 && strings.Contains(c.Operands[0].Text, "://") {
		c.tag("opaque-exec")
		c.fetch(c.Operands[0], "GET")
	}
}
