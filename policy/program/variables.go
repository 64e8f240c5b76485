package program

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Set says what it does to programs that a variable is set for them: it can name a
// program, a file they load or write, options that they add to their own, or a server.
// The tag code-variable says that they may run what was not judged. For most variables,
// and for harmless values, it is the zero Effect.
func (t *Table) Set(name string, value Word) Effect {
	c := call{name: name, program: &program{}, table: t}
	i := slices.IndexFunc(variables, func(v variable) bool { return fits(v.names, name) })
	if i < 0 || value.Text == "" && !value.Dynamic {
		return c.Effect
	}
	v := variables[i]
	if v.tag != "" && (value.Dynamic || v.harmless == nil || !v.harmless.MatchString(value.Text)) {
		c.tag(v.tag)
	}
	if v.does != nil {
		v.does(&c, value)
	}
	return c.Effect
}

// variable is a kind of variables. Names may hold a star, and are tried in order. The tag
// is theirs unless the value is known and harmless.
type variable struct {
	tag      string
	harmless *regexp.Regexp // nil: no value is
	does     func(*call, Word)
	names    string
}

var variables = []variable{
	{names: "npm_config_loglevel npm_config_yes npm_config_audit npm_config_fund npm_config_progress npm_config_color npm_config_update_notifier npm_config_legacy_peer_deps npm_config_offline npm_config_prefer_offline npm_config_engine_strict npm_config_production npm_config_omit npm_config_ignore_scripts"},
	{tag: "code-variable", names: "BASH_ENV ENV BASHOPTS SHELLOPTS BASH_FUNC_* BASH_LOADABLES_PATH BASH_XTRACEFD PROMPT_COMMAND PS4 IFS HOME PATH CDPATH FPATH LD_* DYLD_* GLIBC_TUNABLES GCONV_PATH LOCPATH NLSPATH MALLOC_TRACE HOSTALIASES RES_OPTIONS LOCALDOMAIN RESOLV_HOST_CONF GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_CONFIG_COUNT GIT_CONFIG_KEY_* GIT_CONFIG_VALUE_* GIT_CONFIG_PARAMETERS GIT_EXEC_PATH GIT_ALLOW_PROTOCOL GIT_REDIRECT_* LESSOPEN LESSCLOSE LESSKEY_CONTENT GOVCS GOSUMDB PYTHONHOME PYTHONPLATLIBDIR PYTHONEXECUTABLE CARGO_ALIAS_* CARGO_BUILD_* CARGO_HTTP_* CARGO_REGISTRIES_* CARGO_REGISTRY_* CARGO_SOURCE_* npm_config_* YARN_YARN_PATH YARN_RC_FILENAME YARN_PLUGINS YARN_NPM_REGISTRY_SERVER PERL5DB"},
	{tag: "code-variable", harmless: usualTools, names: "PAGER EDITOR VISUAL BROWSER FCEDIT MANPAGER SYSTEMD_PAGER SUDO_EDITOR KUBE_EDITOR HGEDITOR SVN_EDITOR LESSEDIT GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_SSH GIT_SSH_COMMAND GIT_SHELL_PATH SSH_ASKPASS SUDO_ASKPASS KUBECTL_EXTERNAL_DIFF RSYNC_RSH RSYNC_CONNECT_PROG CVS_RSH SHELL MAKESHELL CC CXX CPP FC AR AS LD RANLIB STRIP PKG_CONFIG GCCGO GOCACHEPROG GOAUTH RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTDOC CARGO_TARGET_*_RUNNER CARGO_TARGET_*_LINKER PYTHONBREAKPOINT MANROFFOPT GROFF_COMMAND_PREFIX NODE_REPL_EXTERNAL_MODULE PIP_PYTHON"},
	{tag: "code-variable", harmless: regexp.MustCompile(`^(/dev/null|off|local|auto)$`), names: "GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_TEMPLATE_DIR RIPGREP_CONFIG_PATH CURL_HOME WGETRC SYSTEM_WGETRC NETRC OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES XDG_CONFIG_HOME XDG_CONFIG_DIRS DOCKER_CONFIG KUBECONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE PIP_CONFIG_FILE PIP_REQUIREMENT GOENV GOWORK GOTOOLDIR GOTOOLCHAIN CARGO_HOME RUSTUP_HOME PYTHONSTARTUP PYTHONUSERBASE PYTEST_PLUGINS BUNDLE_GEMFILE GEM_HOME GEM_PATH AWKPATH AWKLIBPATH JQ_LIBRARY_PATH MANPATH TERMINFO TERMINFO_DIRS TERMCAP TERMPATH LESSKEY LESSKEYIN INPUTRC MAKEFILES TAPE"},
	{does: (*call).libraries, names: "PYTHONPATH NODE_PATH CLASSPATH PERL5LIB PERLLIB RUBYLIB LUA_PATH LUA_CPATH JAVA_HOME M2_HOME MAVEN_HOME GOROOT VIRTUAL_ENV"},
	{does: (*call).outputFolder, names: "SSLKEYLOGFILE LESSHISTFILE HISTFILE PYTHONHISTFILE GIT_TRACE* GIT_INDEX_FILE NODE_V8_COVERAGE NODE_REDIRECT_WARNINGS PYTHONPYCACHEPREFIX TMPDIR CARGO_TARGET_DIR GOBIN GOCACHE GOMODCACHE GOTMPDIR GOPATH COVERAGE_FILE XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME PIP_CACHE_DIR PIP_TARGET PIP_PREFIX PIP_LOG"},
	{tag: "net-override", does: (*call).proxy, names: "http_proxy https_proxy ftp_proxy all_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY RSYNC_PROXY"},
	{tag: "net-override", harmless: usualServers, names: "GIT_SSL_NO_VERIFY GIT_SSL_CAINFO GOINSECURE GONOSUMDB GONOSUMCHECK GOPROXY PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_FIND_LINKS UV_INDEX_URL UV_DEFAULT_INDEX UV_INDEX NODE_TLS_REJECT_UNAUTHORIZED NODE_EXTRA_CA_CERTS PYTHONHTTPSVERIFY SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE DOCKER_HOST DOCKER_CONTEXT"},
	{tag: "code-variable", harmless: options(`--max-old-space-size=\d+|--no-warnings|--no-deprecation|--trace-(warnings|deprecation)|--enable-source-maps|--openssl-legacy-provider`), does: (*call).optionFiles, names: "NODE_OPTIONS"},
	{tag: "code-variable", harmless: options(`-mod=(mod|vendor|readonly)|-count=\d+|-trimpath|-buildvcs=(true|false|auto)|-tags=[\w,]+|-race|-v`), does: (*call).optionFiles, names: "GOFLAGS"},
	{tag: "code-variable", harmless: options(`-[FRSXKMNieqsw]+|--mouse`), does: (*call).optionFiles, names: "LESS MORE"},
	{tag: "code-variable", harmless: options(`-[0-9]|-T ?\d+`), does: (*call).optionFiles, names: "XZ_OPT XZ_DEFAULTS GZIP BZIP2 BZIP"},
	{tag: "code-variable", harmless: options(`-[qvsx]+|--tb=\w+|--maxfail=\d+|--color=\w+|-n ?(auto|\d+)`), does: (*call).optionFiles, names: "PYTEST_ADDOPTS"},
	{tag: "code-variable", harmless: options(`-?j ?\d*|-l ?\d+|-?[ks]+|--silent|--no-print-directory`), does: (*call).optionFiles, names: "MAKEFLAGS GNUMAKEFLAGS MFLAGS"},
	{tag: "code-variable", harmless: options(`-XX:\+Use\w+GC|-XX:Max\w+=\d+[kmg]?|-Xm[sx]\d+[kKmMgG]|-[qBe]|--(quiet|batch-mode)`), does: (*call).optionFiles, names: "MAVEN_ARGS MAVEN_OPTS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS JAVA_OPTS GRADLE_OPTS SBT_OPTS ANT_OPTS"},
	{tag: "code-variable", harmless: options(`-O[0-3sgz]?|-g[0-3]?|-pipe|-W(all|extra|error|pedantic|no-[a-z-]+)|-std=[\w+]+|-m(arch|tune)=[\w-]+|-f(PIC|pic|PIE|pie|no-[a-z-]+)|-fsanitize=[\w,]+|-D\w+(=\w+)?|-l(m|pthread|dl|rt)`), does: (*call).optionFiles, names: "CFLAGS CXXFLAGS CPPFLAGS CGO_CFLAGS CGO_CPPFLAGS CGO_CXXFLAGS CGO_LDFLAGS"},
	{tag: "code-variable", harmless: options(`-D ?warnings|-A ?[\w:-]+|-C ?(opt-level|debuginfo)=\w+|-C ?target-cpu=[\w-]+|--cfg \w+`), does: (*call).optionFiles, names: "RUSTFLAGS RUSTDOCFLAGS"},
	{tag: "code-variable", does: (*call).optionFiles, names: "TAR_OPTIONS MANOPT GREP_OPTIONS ZIPOPT UNZIP UNZIPOPT PERL5OPT RUBYOPT"},
	{tag: "code-variable", harmless: regexp.MustCompile(`^[^./]*$`), names: "PYTHONWARNINGS RUSTUP_TOOLCHAIN"},
	{tag: "code-variable", names: "LUA_INIT_* ERL_*FLAGS ELIXIR_ERL_OPTIONS PHPRC PHP_INI_SCAN_DIR R_PROFILE* R_ENVIRON* *TOOLCHAIN_FILE COMPILER_PATH GCC_EXEC_PREFIX DOTNET_STARTUP_HOOKS BC_ENV_ARGS TF_CLI_ARGS* ZDOTDIR GH_PATH *_CONFIG_DIR *_CONFIG_HOME"},
	// Unknown programs follow these habits, too.
	{tag: "code-variable", harmless: switched(usualPrograms), names: "*PAGER *BROWSER *EDITOR *LAUNCHER *_WRAPPER *_ASKPASS *_COMPILER *_LINKER *_RUNNER RUSTFMT"},
	{tag: "code-variable", harmless: switched(`none`), names: "*INIT"},
	{tag: "code-variable", harmless: switched(`[\w,]+|((-[A-Za-z]\w*|--[a-z][a-z-]*)(=\w+)?(\s+|$))+`), does: (*call).optionFiles, names: "*FLAGS *_OPTS *_OPTIONS"},
}

// Odd says whether the value of a variable may be more than a plain word to the programs
// that get it: a path or an address, also if that is only known at run time; or code, which a shell runs if
// it evaluates the text, or a call with brackets. Blanks say nothing: names of people and applications have
// some. What variables do whose names are known, Set says.
func Odd(name string, value Word) (odd, code bool) {
	if slices.ContainsFunc(variables, func(v variable) bool { return fits(v.names, name) }) {
		return false, false
	}
	code = strings.Contains(value.Text, "$(") || strings.Contains(value.Text, "`")
	return code || value.Dynamic || strings.ContainsAny(value.Text, "/;(\n"), code
}

// fits: a pattern may hold one star. Settings of npm are read in any case.
func fits(patterns, name string) bool {
	if lower := strings.ToLower(name); strings.HasPrefix(lower, "npm_config_") {
		name = lower
	}
	return slices.ContainsFunc(strings.Fields(patterns), func(p string) bool {
		ok, err := path.Match(p, name)
		return err == nil && ok
	})
}

// sets takes NAME=value, for what the program runs.
func (c *call) sets(w Word) {
	name, _, _ := strings.Cut(w.Text, "=")
	c.env, c.set = append(c.env, name), append(c.set, w)
}

// applyValues adds what the variables do that were set for what the program runs.
func (c *call) applyValues() {
	for _, w := range c.set {
		name, value, _ := strings.Cut(w.Text, "=")
		e := c.table.Set(name, rest(w, value))
		odd, code := Odd(name, rest(w, value))
		if odd {
			c.Odd = append(c.Odd, name)
		}
		if code {
			c.tag("code-variable")
		}
		c.Tags, c.Touches, c.Fetches = append(c.Tags, e.Tags...), append(c.Touches,
			e.Touches...), append(c.Fetches, e.Fetches...)
		if e.CodeFile.Text != "" {
			c.CodeFile = e.CodeFile
		}
	}
}

// usualPrograms are those that variables name every day.
const usualPrograms = `cat|true|false|:|less|more|less -[FRSX]+|0|none|never|(/usr)?(/bin/)?(ba|da)?sh|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|(gcc|g\+\+|clang|clang\+\+)-[0-9.]+|tcc|gfortran|ar|as|ld|lld|mold|gold|ranlib|strip|pkg-config|pkgconf|rustc|rustdoc|sccache|ccache` +
	`|(?i:chrome|chromium|firefox|safari|edge|webkit|electron)(?i:headless)?`

var usualTools = regexp.MustCompile(`^(` + usualPrograms + `)$`)

// switched is a value that only says yes or no, or how often, or one of others.
func switched(others string) *regexp.Regexp {
	return regexp.MustCompile(`^(\d+|(?i:true|false|yes|no|on|off|auto)|` + others + `)$`)
}

var usualServers = regexp.MustCompile(`^(direct|off|default|https://proxy\.golang\.org,direct|https://pypi\.org/simple)$`)

func (c *call) proxy(w Word) { c.fetch(w, "PROXY") }

// outputFolder is a file or folder that is written. A switch is no file.
func (c *call) outputFolder(w Word) {
	if strings.Contains(w.Text, "/") && !w.Dynamic {
		c.touch("write", w, c.name)
	}
}

// libraries are code that counts like code that is run. Of several folders one that is
// named in full says most.
func (c *call) libraries(w Word) {
	if w.Dynamic && !w.Begins {
		c.tag("code-variable")
	}
	for _, folder := range strings.Split(w.Text, ":") {
		if folder == "" || strings.HasPrefix(path.Clean(folder), "/usr/") {
			continue
		}
		if c.CodeFile.Text == "" || path.IsAbs(folder) || strings.HasPrefix(folder, "..") {
			c.CodeFile = rest(w, folder)
		}
	}
}

// options are words of every day with blanks between.
func options(one string) *regexp.Regexp {
	return regexp.MustCompile(`^\s*((` + one + `)(\s+|$))+$`)
}

// optionFiles are files elsewhere that options name.
func (c *call) optionFiles(w Word) {
	for _, word := range strings.Fields(w.Text) {
		if at, out := elsewhere(word); out {
			c.touch("read", rest(w, at), c.name)
		}
	}
}
