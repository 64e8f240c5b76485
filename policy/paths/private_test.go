package paths

import (
	"io/fs"
	"strings"
	"testing"
)

var sam = Guard{Roots: Roots{Cwd: "/home/sam/code/shop", Home: "/home/sam",
	Write: []string{"/home/sam/code/shop"}, Look: []string{"/home/sam", "/etc", "/var/log"}}}

func classes(g Guard, p string) (word, tool string) {
	return g.Word(Read, Word{Text: p}, g.Roots.Cwd, "argument").Class, g.Literal(Read, p).Class
}

// What is private by its name is asked about, whoever reads it. These names were not known
// when the words were chosen.
func TestPrivate(t *testing.T) {
	for class, names := range map[string]string{
		Around: `~/notes/todo.md ~/code/other/README.md ~/code/other/tokenizer.json ~/code/other/docs/password-reset.md ~/code/other/src/secrets/store.go ~/code/other/private/a.go
			~/code/other/icons/wallet.svg ~/code/other/go.mod ~/code/other/keyboard.txt ~/code/other/passenger.csv ~/code/other/secretary.txt ~/Documents/letter.pdf ~/code/other/.github/workflows/ci.yml
			~/code/other/token_test.go ~/code/other/certs/root.pem ~/code/other/ca-bundle.pem ~/code/other/config.json ~/code/other/etc/nginx.conf ~/Downloads/node-v22.tar.gz ~/homework/essay.txt
			/etc/nginx/nginx.conf /etc/hostname /etc/ssl/certs/ISRG_Root_X1.pem /etc/fonts/fonts.conf /etc/default/locale /etc/logrotate.conf /etc/nginx/sites-enabled/shop /var/log/syslog /var/log/nginx/access.log`,
		Outside: `~/passwords.txt ~/Documents/Passwords.csv ~/Documents/wifiPassword.docx ~/notes/my-passwords.md ~/Downloads/bitwarden_export_20250101.json ~/Downloads/github-recovery-codes.txt
			~/Documents/seed-phrase.txt ~/Documents/wallet-backup.txt ~/keys/prod.p ~/Downloads/ec2.pem ~/github_token ~/code/other/api_key.txt ~/code/other/secrets/prod.txt ~/code/other/prod.tfvars ~/vpn/office.conf ~/wg0.conf
			~/code/other/wp-config.php ~/dotfiles/netrc ~/dotfiles/ssh/config ~/dotfiles/bash_history ~/dotfiles/config/gh/hosts.yml ~/chezmoi/private_dot_ssh/config ~/src/dot_netrc ~/backup/etc/shadow ~/backup/shadow
			~/backup/sam/.config/app/token.json ~/old/Library/Application+Support/x/y ~/old/AppData/x ~/x/etc/wpa_supplicant/wpa_supplicant.conf ~/backup/home.tar.gz ~/db-dump.sql ~/home-2025.zip ~/Maildir/new/1 ~/Mail/inbox
			~/p\u0430sswords/../password.txt ~/PASSWORDS.TXT ~/p%C3%A4ss/secret.txt /etc/redis/redis.conf /etc/environment /etc/netplan/50-cloud-init.yaml /etc/passwd- /etc/grafana/grafana.ini /var/log/cloud-init-output.log /etc/app/private/x`,
		Secret: `/etc/postfix/sasl_passwd.db /etc/wpa_supplicant.conf /etc/ppp/pap-secrets /etc/davfs2/secrets /etc/x11vnc.pass /etc/apt/auth.conf.d/x /etc/sssd/sssd.conf /etc/vault/config.hcl ~/vault.1pux ~/x.nmconnection ~/code/other/.dev.vars`,
	} {
		for name := range strings.FieldsSeq(names) {
			name = strings.ReplaceAll(strings.ReplaceAll(name, "+", " "), `\u0430`, "\u0430")
			if word, tool := classes(sam, name); word != class || tool != class {
				t.Errorf("%s: %s for a command, %s for a tool, want %s", name, word, tool, class)
			}
		}
	}
}

// Every word counts in every place of every name of data, and in no name of code.
func TestPrivateWords(t *testing.T) {
	folders := []string{"", "/Documents", "/code/other", "/a/b/c/d", "/Größe/日本"}
	for w := range secretWords() {
		upper := strings.ToUpper(w[:1]) + w[1:]
		for _, name := range []string{w, upper, strings.ToUpper(w), w + ".txt", "my-" + w + ".json",
			w + "_2025-01.csv", "db" + upper + ".yml", "old " + w + " list.xlsx", w + ".txt.gz",
			"notes-" + w + ".md"} {
			for _, f := range folders {
				if word, tool := classes(sam, "~"+f+"/"+name); word == Around || tool == Around {
					t.Errorf("~%s/%s may be read", f, name)
				}
			}
		}
		for end := range codeEnds() {
			for _, f := range folders {
				if name := "~" + f + "/x_" + w + "." + end; !strings.Contains(name, "wallet.dat") {
					if word, _ := classes(sam, name); word != Around {
						t.Errorf("%s is %s", name, word)
					}
				}
			}
		}
	}
}

// A copy of what is a secret is not open because it is a copy.
func TestPrivateCopies(t *testing.T) {
	var each func(tree *tree, p string, call func(p string))
	each = func(tree *tree, p string, call func(p string)) {
		if tree.entry != nil && tree.entry.read == Secret {
			call(p)
		}
		for name, sub := range tree.sub {
			each(sub, p+"/"+name, call)
		}
		for _, h := range tree.heads {
			each(h.tree, p+"/"+h.name, call)
		}
	}
	n := 0
	each(absolute(), "", func(p string) {
		if n++; strings.Count(p, "/") > 1 {
			if word, tool := classes(sam, "~/old-disk"+p+"/x"); word == Around || tool == Around {
				t.Errorf("a copy of %s may be read", p)
			}
		}
	})
	each(anywhere(), "", func(p string) {
		n++
		for _, copied := range []string{"~/old-disk" + p, "~/backup" + p,
			"~/dotfiles/" + strings.TrimPrefix(p, "/."), "~/src/dot_" + strings.TrimPrefix(p, "/.")} {
			if word, tool := classes(sam, copied); strings.HasPrefix(p, "/.") && (word == Around ||
				tool == Around) {
				t.Errorf("a copy of %s may be read: %s", p, copied)
			}
		}
	})
	if n < 200 {
		t.Errorf("only %d names", n)
	}
}

// modes is a disk on which some places are closed to others; the rest is open.
type modes map[string]fs.FileMode

func (m modes) Look(p string) (Entry, error) {
	if mode, is := m[p]; is {
		return Entry{Mode: mode, Names: 1}, nil
	}
	return Entry{Mode: fs.ModeDir | 0o755, Names: 2}, nil
}

func (m modes) Readlink(string) (string, error)         { return "", fs.ErrInvalid }
func (m modes) List(string, int) ([]fs.DirEntry, error) { return nil, nil }

// What the administrator has closed to others is no setting to be looked at. In a home and
// among the logs that is nothing special.
func TestShut(t *testing.T) {
	g := sam
	g.Links = modes{
		"/etc/a.conf": 0o640, "/etc/b.conf": 0o644, "/etc/none.conf": 0, "/etc/dir": fs.ModeDir | 0o750,
		"/etc/dir/c.conf": 0o644,
		"/home/sam/x.txt": 0o600, "/home/sam": fs.ModeDir | 0o700, "/var/log/syslog": 0o640,
	}
	for p, want := range map[string]string{
		"/etc/a.conf": Outside, "/etc/b.conf": Around, "/etc/none.conf": Outside, "/etc/dir/c.conf": Outside,
		"/etc/dir": Outside, "/etc/other/c.conf": Around,
		"~/x.txt": Around, "/var/log/syslog": Around, "/etc/dir/../b.conf": Outside,
	} {
		if word, tool := classes(g, p); word != want || tool != want {
			t.Errorf("%s: %s, and %s for a tool, want %s", p, word, tool, want)
		}
	}
}

func FuzzPrivate(f *testing.F) {
	f.Add("a/b.txt")
	f.Add("/.config/x")
	f.Fuzz(func(t *testing.T, name string) {
		if private(name) != private(strings.TrimSuffix(name, "/")) && !strings.HasSuffix(name, "//") {
			t.Errorf("%q: a slash at the end changes it", name)
		}
	})
}
