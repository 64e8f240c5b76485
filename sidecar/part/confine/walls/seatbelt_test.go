package walls

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What follows the base of a profile, for each kind of box.
func TestSeatbelt(t *testing.T) {
	for name, c := range map[string]struct {
		box  Box
		want string
	}{
		"files, the more specific path later, and what is kept last": {
			Box{
				Read: []string{"/Users/sam/code/app/lib", "/usr", "/Users/sam/code"},
				List: []string{"/Users/sam"}, Use: []string{"/dev/null"},
				Write: []string{"/Users/sam/shop"}, Deny: []string{"/Users/sam/code/app",
					"/Users/sam/shop/a/.env"}, Fixed: []string{"/Users/sam/shop/.git/hooks", "/usr/lib"},
				Net: NetNone,
			},
			`(allow file-read* file-map-executable process-exec* (subpath "/usr"))
(allow file-read-data (literal "/Users/sam"))
(allow file-read* file-map-executable process-exec* (subpath "/Users/sam/code"))
(deny file* process-exec* (subpath "/Users/sam/code/app"))
(allow file-read* file-map-executable process-exec* (subpath "/Users/sam/code/app/lib"))
(allow file-read* file-write-data (literal "/dev/null"))
(allow file-read* file-write* file-map-executable process-exec* (subpath "/Users/sam/shop"))
(deny file-write-unlink (literal "/Users/sam/shop"))
(deny file-write-unlink (literal "/Users/sam/shop/.git"))
(deny file-write-unlink (literal "/Users/sam/shop/a"))
(deny file-write* (subpath "/Users/sam/shop/.git/hooks"))
(deny file* process-exec* (subpath "/Users/sam/shop/a/.env"))
(deny file-write-setugid)
(allow network-bind (local tcp "localhost:*"))
(allow network-inbound (local tcp "localhost:*"))
`},
		"a proxy, and ports": {
			Box{Net: NetProxy, Proxy: "localhost:8081", Ports: []int{5432}},
			`(deny file-write-setugid)
(allow network-bind (local tcp "localhost:*"))
(allow network-inbound (local tcp "localhost:*"))
(allow network-outbound (remote tcp "localhost:5432"))
(allow network-outbound (remote tcp "localhost:8081"))
`},
		"all of the network": {
			Box{Net: NetOpen, Anyone: true},
			`(deny file-write-setugid)
(allow network-bind (local tcp "*:*"))
(allow network-inbound (local tcp "*:*"))
(allow network-outbound (remote tcp "*:*") (remote udp "*:*") (literal "/private/var/run/mDNSResponder"))
`},
		"names with quotes": {
			Box{Net: NetNone, Write: []string{`/w/") (subpath "/\`}},
			`(allow file-read* file-write* file-map-executable process-exec* (subpath "/w/\") (subpath \"/\\"))
(deny file-write-setugid)
(allow network-bind (local tcp "localhost:*"))
(allow network-inbound (local tcp "localhost:*"))
`},
	} {
		got, err := c.box.seatbelt()
		if diff := cmp.Diff(seatbeltBase+c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	for _, path := range []string{"/w/a\nb", "/w/\x00", "/w/\x7f", "/w/\xff"} {
		if _, err := (Box{Net: NetNone, Read: []string{path}}).seatbelt(); err == nil {
			t.Errorf("%q is in a profile", path)
		}
	}
}

// A profile gives what the box says, and nothing else: each is asked about made-up paths. The
// more specific path wins, but nothing gives back what is kept in a folder that may be written.
func TestSeatbeltGivesWhatTheBoxSays(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 23))
	path := func() (p string) {
		for range 1 + random.IntN(4) {
			p += "/" + string("abc"[random.IntN(3)])
		}
		return p
	}
	paths := func() (out []string) {
		for range random.IntN(3) {
			out = append(out, path())
		}
		return out
	}
	asked, refused := 0, 0
	for range 3000 {
		b := Box{Read: paths(), List: paths(), Write: paths(), Deny: paths(), Fixed: paths(), Net: NetNone}
		text, err := b.seatbelt()
		if err != nil {
			t.Fatal(err)
		}
		rules := rulesOf(t, text)
		for range 20 {
			p := path()
			kept := slices.ContainsFunc(b.Deny,
				func(d string) bool { return isUnder(p, d) && isUnderAny(d, b.Write) })
			fixed := slices.ContainsFunc(b.Fixed,
				func(f string) bool { return isUnder(p, f) && isUnderAny(f, b.Write) })
			writes := isUnderAny(p, b.Write) && !kept && !fixed
			reads := !kept && (isUnderAny(p, b.Write) || longest(p, b.Read) > longest(p, b.Deny))
			moves := writes && !slices.ContainsFunc(slices.Concat(b.Deny, b.Fixed),
				func(d string) bool { return isUnder(d, p) && isUnderAny(d, b.Write) })
			for operation, want := range map[string]bool{"file-write-data": writes,
				"file-map-executable": reads, "process-exec*": reads, "file-write-unlink": moves} {
				asked++
				if !want {
					refused++
				}
				if got := allows(rules, operation, p); got != want {
					t.Fatalf("%s %s: %v, want %v\n%+v\n%s", operation, p, got, want, b,
						strings.TrimPrefix(text, seatbeltBase))
				}
			}
		}
	}
	t.Logf("%d questions, %d refused", asked, refused)
}

// longest is how long the longest of the paths is that lead to one; 0: none does.
func longest(path string, dirs []string) (n int) {
	for _, dir := range dirs {
		if isUnder(path, dir) {
			n = max(n, len(dir))
		}
	}
	return n
}

type sbRule struct {
	allow, deep bool
	operations  []string
	path        string
}

// rulesOf reads the rules for paths from a profile.
func rulesOf(t *testing.T, text string) (out []sbRule) {
	for line := range strings.Lines(strings.TrimPrefix(text, seatbeltBase)) {
		what, filter, ok := strings.Cut(strings.Trim(line, "()\n"), " (")
		words, kind, quoted := strings.Fields(what), "", ""
		if kind, quoted, _ = strings.Cut(filter, " "); !ok || kind != "subpath" && kind != "literal" {
			continue
		}
		path, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, sbRule{words[0] == "allow", kind == "subpath", words[1:], path})
	}
	return out
}

// allows says what Seatbelt says: the last rule that fits.
func allows(rules []sbRule, operation, path string) (yes bool) {
	for _, r := range rules {
		fits := slices.ContainsFunc(r.operations, func(o string) bool {
			start, all := strings.CutSuffix(o, "*")
			return o == operation || all && strings.HasPrefix(operation, start)
		})
		if fits && (path == r.path || r.deep && isUnder(path, r.path)) {
			yes = r.allow
		}
	}
	return yes
}

// On a disk that knows .ENV as .env both mean one file. This one does not, so a second name
// stands for it.
func TestOnDisk(t *testing.T) {
	dir := realPath(t.TempDir())
	file := filepath.Join(dir, ".env")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(dir, "none"), filepath.Join(dir, "none", "at", "all"),
		"/"} {
		if got := onDisk(path); got != path {
			t.Errorf("%s is %s", path, got)
		}
	}
	if entries, err := os.ReadDir(strings.ToUpper(dir)); err == nil && len(entries) > 0 {
		if got := onDisk(strings.ToUpper(file)); got != file {
			t.Errorf("%s is %s", strings.ToUpper(file), got)
		}
	}
}

func FuzzSeatbeltText(f *testing.F) {
	f.Add(`/a"b\c`)
	f.Fuzz(func(t *testing.T, path string) {
		quoted, err := seatbeltText(path)
		if err != nil {
			return
		}
		inside := strings.NewReplacer(`\\`, "", `\"`, "").Replace(quoted[1 : len(quoted)-1])
		if strings.ContainsAny(inside, "\"\\\n") {
			t.Errorf("%q leaves its string: %s", path, quoted)
		}
	})
}
