package program

import (
	"slices"
	"strings"
	"testing"
)

// TestSet looks at what variables mean by their values: tags, and files with their
// operation, code or URLs.
func TestSet(t *testing.T) {
	for _, x := range []struct{ setting, want string }{
		{"LD_PRELOAD=./a.so", "code-variable"},
		{"PATH=/tmp/bin", "code-variable"},
		{"EDITOR=./run", "code-variable"},
		{"EDITOR=true", ""},
		{"GIT_PAGER=less -R", ""},
		{"CC=clang-17", ""},
		{"CC=gcc -wrapper x", "code-variable"},
		{"GIT_CONFIG_KEY_0=core.pager", "code-variable"},
		{"GIT_CONFIG_GLOBAL=/dev/null", ""},
		{"RIPGREP_CONFIG_PATH=rc", "code-variable"},
		{"GIT_TRACE=1", ""},
		{"GIT_TRACE=/srv/log", "write(/srv/log)"},
		{"SSLKEYLOGFILE=./keys", "write(./keys)"},
		{"TMPDIR=<?>", ""},
		{"PYTHONPATH=src:lib", "code(src)"},
		{"PYTHONPATH=src:/opt/lib", "code(/opt/lib)"},
		{"JAVA_HOME=/usr/lib/jvm/x", ""},
		{"https_proxy=http://proxy.example.com", "net-override PROXY(http://proxy.example.com)"},
		{"GOPROXY=off", ""},
		{"GOPROXY=https://mirror.example.com", "net-override"},
		{"NODE_OPTIONS=--max-old-space-size=4096", ""},
		{"NODE_OPTIONS=--require ./a.js", "code-variable read(./a.js)"},
		{"GOFLAGS=-mod=mod", ""},
		{"GOFLAGS=-toolexec=./a", "code-variable"},
		{"TAR_OPTIONS=--checkpoint-action=exec=a", "code-variable"},
		{"MAVEN_OPTS=-Xmx1g", ""},
		{"MAVEN_OPTS=-javaagent:a.jar", "code-variable read(a.jar)"},
		{"MAKEFLAGS=-j4", ""},
		{"MAKEFLAGS=--eval=a:;b", "code-variable"},
		{"CFLAGS=-O2 -Wall", ""},
		{"CFLAGS=<?>", "code-variable"},
		{"NPM_CONFIG_LOGLEVEL=error", ""},
		{"npm_config_registry=https://mirror.example.com", "code-variable"},
		{"PYTHONWARNINGS=ignore", ""},
		{"PYTHONWARNINGS=all:0:a.b:0:0", "code-variable"},
		{"LANG=C", ""},
		{"LD_PRELOAD=", ""},
	} {
		name, text, _ := strings.Cut(x.setting, "=")
		value := Word{Text: text}
		if text == "<?>" {
			value = Word{Dynamic: true}
		}
		if got := said(Set(name, value)); got != x.want {
			t.Errorf("%s: %q, want %q", x.setting, got, x.want)
		}
	}
}

func said(e Effect) string {
	words := slices.Clone(e.Tags)
	for _, touch := range e.Touches {
		words = append(words, touch.Op+"("+touch.Word.Text+")")
	}
	if e.CodeFile.Text != "" {
		words = append(words, "code("+e.CodeFile.Text+")")
	}
	for _, f := range e.Fetches {
		words = append(words, f.Method+"("+f.Word.Text+")")
	}
	return strings.Join(words, " ")
}
