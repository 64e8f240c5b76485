package walls

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEnviron(t *testing.T) {
	got := Environ([]string{
		"PATH=/bin", "HOME=/home/x", "LANG=C", "KEYBOARD=us", "AUTHOR=me", "EMPTY=",
		"GITHUB_TOKEN=x", "my_secret=x", "DB_PASSWORD=x", "AWS_REGION=x", "OPENAI_BASE_URL=x",
		"SSH_AUTH_SOCK=/x", "STRIPE_API_KEY=x",
		"HARMLESS=ghp_" + strings.Repeat("a1B2", 9), "URL=https://example.com",
	}, SecretNames())
	want := []string{"PATH=/bin", "HOME=/home/x", "LANG=C", "KEYBOARD=us", "AUTHOR=me", "EMPTY=",
		"URL=https://example.com"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestProxied(t *testing.T) {
	got := WithProxy([]string{"A=b", "http_proxy=http://elsewhere", "NO_PROXY=*"}, "http://127.0.0.1:8")
	for _, want := range []string{"A=b", "http_proxy=http://127.0.0.1:8", "HTTPS_PROXY=http://127.0.0.1:8",
		"NO_PROXY=localhost,127.0.0.1,::1"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %v", want, got)
		}
	}
	if slices.Contains(got, "http_proxy=http://elsewhere") || slices.Contains(got, "NO_PROXY=*") {
		t.Errorf("another proxy is left: %v", got)
	}
}

func TestParseLimits(t *testing.T) {
	for _, c := range []struct {
		text string
		want Limits
		said string
	}{
		{"", Limits{}, ""},
		{"time=10m,processes=512,memory=4G,file=2G,output=64M,open=99",
			Limits{Time: 10 * time.Minute, Processes: 512, Memory: 4 << 30, File: 2 << 30, Output: 64 << 20,
				Open: 99}, ""},
		{"memory=1000", Limits{Memory: 1000}, ""},
		{"memory=0", Limits{}, "the limit memory is a size"},
		{"memory=4g", Limits{}, "the limit memory is a size"},
		{"memory=9999999T", Limits{}, "the limit memory is a size"},
		{"memory=1KK", Limits{}, "the limit memory is a size"},
		{"time=-1s", Limits{}, "the limit time is a time"},
		{"processes=x", Limits{}, "the limit processes is a whole number"},
		{"colour=red", Limits{}, `there is no limit "colour"`},
	} {
		got, err := ParseLimits(c.text)
		if c.said != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.said) {
				t.Errorf("%q: %v, want %q", c.text, err, c.said)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%q: %+v %v", c.text, got, err)
		}
	}
}

func FuzzParseLimits(f *testing.F) {
	f.Add("time=10m,processes=512,memory=4G")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLimits(text)
		if err == nil && (l.Time < 0 || l.Processes < 0 || l.Memory < 0 || l.File < 0 || l.Output < 0 ||
			l.Open < 0) {
			t.Errorf("%q: %+v", text, l)
		}
	})
}

func TestChecked(t *testing.T) {
	dir := realPath(t.TempDir())
	for _, c := range []struct {
		box  Box
		said string
	}{
		{Box{Net: NetNone}, "no command to run"},
		{Box{Command: []string{"x"}}, "the network is none, proxy or open"},
		{Box{Command: []string{"x"}, Net: NetProxy}, `the network is proxy, and "" is no address`},
		{Box{Command: []string{"x"}, Net: NetProxy, Proxy: "10.0.0.1:80"}, `the network is proxy, and "10.0.0.1:80" is no address`},
		{Box{Command: []string{"x"}, Net: NetProxy, Proxy: "localhost:80"}, ""},
		{Box{Command: []string{"x"}, Net: NetNone, Write: []string{"y"}}, "y is no absolute path"},
		{Box{Command: []string{"x"}, Net: NetNone, Write: []string{dir}, Session: "s", Records: dir + "/r"}, dir + " may be written, and holds"},
		{Box{Command: []string{"x"}, Net: NetNone, Write: []string{dir + "/r/x"}, Session: "s", Records: dir + "/r"}, dir + "/r/x may be written, and holds"},
		{Box{Command: []string{"x"}, Net: NetNone, Write: []string{dir}}, ""},
	} {
		_, err := c.box.normalize()
		if (err == nil) != (c.said == "") || err != nil && !strings.HasPrefix(err.Error(), c.said) {
			t.Errorf("%+v: %v, want %q", c.box, err, c.said)
		}
	}
}

// A shell that finds a program in a folder that it cannot read looks no further.
func TestReachable(t *testing.T) {
	b := Box{Read: []string{realPath("/usr/bin")}, Write: []string{"/w"}}
	got := b.readablePATH([]string{"A=b", "PATH=/usr/bin:/home/x/bin:/w/bin:"})
	if diff := cmp.Diff([]string{"A=b", "PATH=/usr/bin:/w/bin"}, got); diff != "" {
		t.Error(diff)
	}
}
