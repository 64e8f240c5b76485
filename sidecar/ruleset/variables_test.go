package ruleset

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// handing are the ways in which a command gives a variable to a program: NAME is the name,
// and VALUE the value as one word of shell.
var handing = []string{
	"NAME=VALUE make", "env NAME=VALUE make", "export NAME=VALUE; make", "export NAME=VALUE && make",
	"NAME=VALUE; export NAME; make", "export NAME; NAME=VALUE; make", "declare -x NAME=VALUE; make",
	"set -a; NAME=VALUE; make", "set -o allexport; NAME=VALUE; make", "A=1 NAME=VALUE B=2 make",
	"env -u X A=1 NAME=VALUE make", "(export NAME=VALUE; make)", "bash -c \"NAME=VALUE make\"",
	"f() { NAME=VALUE make; }; f", "timeout 5 env NAME=VALUE make", "x=VALUE; NAME=$x make",
	"x=VALUE; export NAME=\"$x\"; make", "if true; then NAME=VALUE make; fi", "typeset -x NAME=VALUE; make",
}

// No value that may be a path, an address or code reaches a program under a name that nobody
// knows, however it gets there. Plain values do under any name.
func TestVariablesByName(t *testing.T) {
	set := loaded(t)
	decide := func(way, name, value string, env bool) policy.Decision {
		if env {
			return callWith(set, "exec", map[string]any{"command": "make",
				"env": map[string]any{name: value}})
		}
		return set.CheckCommand(strings.NewReplacer("NAME", name, "VALUE", value).Replace(way), somebody,
			corpusAt)
	}
	rapid.Check(t, func(t *rapid.T) {
		way := rapid.SampledFrom(handing).Draw(t, "way")
		name := "X" + rapid.StringMatching(`[A-Z_]{0,12}`).Draw(t, "name")
		env := rapid.IntRange(0, 9).Draw(t, "env") == 0
		if strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "XZ_") {
			return
		}
		plain := rapid.StringMatching(`[A-Za-z0-9_.,:@%+-]{0,12}`).Draw(t, "plain")
		if d := decide(way, name, plain, env); d.Effect != policy.Allow {
			t.Fatalf("%s with %s=%s: %s by %s (%s)", way, name, plain, d.Effect, d.Rule, d.Why)
		}
		sign := rapid.SampledFrom([]string{"/", "://", "./", "../", "/tmp/"}).Draw(t, "sign")
		if d := decide(way, name, plain+sign+"x", env); d.Effect == policy.Allow {
			t.Fatalf("%s with %s=%s is allowed", way, name, plain+sign+"x")
		}
	})
	for _, value := range []string{"'$(id)'", "'`id`'", "'a;b'", "$(cat x)", "\"$(printf '\\57x')\""} {
		for _, way := range handing {
			if d := decide(way, "DATABASE_URL", value, false); d.Effect == policy.Allow &&
				(strings.Contains(value, "'$(") || strings.Contains(value, "'`")) &&
				!strings.Contains(way, "bash") {
				t.Errorf("%s with %s is allowed under a plain name", way, value)
			}
			if d := decide(way, "XYZ", value, false); d.Effect == policy.Allow {
				t.Errorf("%s with %s is allowed", way, value)
			}
		}
	}
}

// Who works every day sets these, and is not asked; what loads code stays asked about.
func TestOrdinaryVariables(t *testing.T) {
	set := loaded(t)
	for want, lines := range map[policy.Effect][]string{
		policy.Allow: {
			"PORT=3000 npm run dev", "NODE_ENV=test npm test", "CI=1 npm test", "DEBUG='app:*' npm start",
			"FORCE_COLOR=1 npm test", "LANG=C.UTF-8 sort a", "LC_ALL=de_AT.UTF-8 date",
			"TZ=Europe/Vienna date", "HOST=0.0.0.0 npm start",
			"DATABASE_URL=postgres://localhost/x npm test", "REDIS_URL=redis://localhost:6379/0 pytest",
			"GOFLAGS=-mod=mod go test ./...", "PYTHONPATH=. pytest", "PYTHONPATH=src python3 src/app.py",
			"NODE_OPTIONS=--max-old-space-size=4096 npm run build",
			"CGO_ENABLED=0 GOOS=linux go build ./...", "RUST_BACKTRACE=1 cargo test",
			"VITE_API=https://example.com/api npm run build", "VERSION=$(git describe --tags) make",
			"PYTHONUNBUFFERED=1 python3 app.py", "export NODE_ENV=production; npm run build",
			"LS_COLORS='di=01;34' ls", "root=/srv/project/src; ls $root", "for d in a/b c/d; do ls $d; done",
			"url=https://example.com/x; curl -s $url", "GIT_PAGER=cat git log", "export COUNT=42 NEXT=$VALUE",
			"MSG='see a/b; done'; git commit -m \"$MSG\"",
			"CFLAGS='-O2 -g' make", "LDFLAGS='-s -w' make", "EXTRA_FLAGS=--verbose make",
			"FEATURE_FLAGS=a,b npm test", "SKIP_INIT=1 npm test", "TEST_BROWSER=chrome npm test",
			"BROWSER=none npm start", "CMAKE_CXX_COMPILER_LAUNCHER=ccache cmake -B b",
			"RUSTFLAGS='-D warnings' cargo test", "JAVA_OPTS=-Xmx512m npm test",
			"APP_NAME='My App' npm start", "GIT_AUTHOR_NAME='A B' git commit -m x",
			"GIT_EDITOR=true git rebase --continue", "CMAKE_BUILD_TYPE=Release cmake -B b",
		},
		policy.Ask: {
			"R_PROFILE=./x.R Rscript a.R", "LUA_INIT=@x/y lua a.lua",
			"DOTNET_STARTUP_HOOKS=/tmp/x.dll dotnet build", "BAT_CONFIG_PATH=/tmp/x bat a",
			"PHPRC=/tmp/x php a.php", "GCC_EXEC_PREFIX=/tmp/x/ gcc a.c", "JULIA_LOAD_PATH=/tmp julia a.jl",
			"LUA_INIT=@x.lua lua a.lua", "LUA_INIT=\"os.execute'id'\" lua a.lua",
			"ERL_AFLAGS='-run os cmd' mix test", "PHPRC=cfg php a.php", "R_PROFILE_USER=x.R Rscript a.R",
			"CMAKE_C_COMPILER_LAUNCHER='sh x' cmake --build b", "CMAKE_TOOLCHAIN_FILE=x.cmake cmake -B b",
			"RUSTFMT=x cargo fmt", "COMPILER_PATH=. gcc a.c", "GH_BROWSER='sh evil.sh' gh pr view 1",
			"GH_CONFIG_DIR=cfg gh pr view 1", "FOO='x(y)' make", "ANY_PAGER='sh x' make",
			"ANY_FLAGS='-x y.so' make", "KAFKA_OPTS=-javaagent:x.jar ./gradlew test",
			"LD_PRELOAD=./x.so ls", "PATH=/tmp:$PATH ls", "PYTHONPATH=/opt/x pytest",
			"NODE_OPTIONS='--require /tmp/x.js' npm test",
		},
	} {
		for _, line := range lines {
			if d := set.CheckCommand(line, somebody, corpusAt); d.Effect != want {
				t.Errorf("%s: %s by %s (%s), want %s", line, d.Effect, d.Rule, d.Why, want)
			}
		}
	}
}
