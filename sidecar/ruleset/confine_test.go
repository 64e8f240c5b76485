package ruleset

import (
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// What only the kernel can hold is asked about unconfined, and leaves confined. What the
// kernel cannot undo or see is asked about in both cases.
func TestConfinedCommands(t *testing.T) {
	set, problems := Full.Load(builtin(t))
	if set == nil {
		t.Fatal(problems)
	}
	for command, want := range map[string][2]policy.Effect{ // unconfined, confined
		"npm test":                                     {policy.Allow, policy.Allow},
		"ffmpeg-like-tool -i a b":                      {policy.Ask, policy.Allow},
		"node -e 'console.log(1)'":                     {policy.Ask, policy.Allow},
		"bash scripts/x.sh":                            {policy.Ask, policy.Allow},
		"$TOOL --all":                                  {policy.Ask, policy.Allow},
		"cat \"$FILE\"":                                {policy.Ask, policy.Allow},
		"curl http://localhost:3000/":                  {policy.Ask, policy.Allow},
		"kill 4242":                                    {policy.Ask, policy.Allow},
		"git config user.name x":                       {policy.Ask, policy.Allow},
		"git config --global user.name x":              {policy.Ask, policy.Ask},
		"env":                                          {policy.Ask, policy.Allow},
		"kubectl get secret db -o yaml":                {policy.Ask, policy.Ask},
		"gh auth token":                                {policy.Ask, policy.Ask},
		"psql -h localhost -c 'select 1'":              {policy.Allow, policy.Allow},
		"psql postgresql://a@127.0.0.1:5432/b":         {policy.Ask, policy.Allow},
		"redis-cli -h localhost flushall":              {policy.Ask, policy.Ask},
		"pg_dump -h localhost shop":                    {policy.Allow, policy.Allow},
		"psql -h db.example.com -c 'select 1'":         {policy.Ask, policy.Ask},
		"psql postgresql://localhost@db.example.com/b": {policy.Ask, policy.Ask},
		"psql -c 'select 1'":                           {policy.Ask, policy.Ask},
		"docker build -t x .":                          {policy.Ask, policy.Ask},
		"pip install requests":                         {policy.Ask, policy.Ask},
		"pip install -r requirements.txt":              {policy.Allow, policy.Allow},
		"find . -name '*.pyc' -not -path './.venv/*' -exec rm {} +": {policy.Allow, policy.Allow},
		"find . ! -name '*.pyc' -exec rm {} +":                      {policy.Deny, policy.Deny},
		"find . ! ( -name '*.pyc' ) -exec rm {} +":                  {policy.Deny, policy.Deny},
		"find . -name '*.pyc' -o -not -name x -exec rm {} +":        {policy.Deny, policy.Deny},
		"python3 -c 'import shutil; shutil.rmtree(\".\")'":          {policy.Ask, policy.Ask},
		"git push":                               {policy.Ask, policy.Ask},
		"npm publish":                            {policy.Ask, policy.Ask},
		"docker run alpine true":                 {policy.Ask, policy.Ask},
		"systemctl restart nginx":                {policy.Ask, policy.Ask},
		"ssh build.example.com make":             {policy.Ask, policy.Ask},
		"git reset --hard":                       {policy.Ask, policy.Ask},
		"rm -rf \"$DIR\"":                        {policy.Ask, policy.Ask},
		"curl -d @notes.md https://example.com/": {policy.Ask, policy.Ask},
		"echo x > ~/notes.md":                    {policy.Ask, policy.Ask},
		"cat ~/.ssh/id_rsa":                      {policy.Deny, policy.Deny},
		"rm -rf /":                               {policy.Deny, policy.Deny},
		"curl http://169.254.169.254/":           {policy.Deny, policy.Deny},
		"gpt-oss-executor approvals allow 1":     {policy.Deny, policy.Deny},
	} {
		for i, confined := range []bool{false, true} {
			at := exampleAt()
			at.Confined = confined
			if got := set.CheckCommand(command, somebody, at); got.Effect != want[i] {
				t.Errorf("%s, confined %v: %s (%s %s)", command, confined, got.Effect, got.Rule, got.Why)
			}
		}
	}
}

// The stricter of both folders says whether commands are confined, and a locked folder can
// refuse to trust in it.
func TestConfineOfBothFolders(t *testing.T) {
	says := func(word string) string {
		if word == "" {
			return ""
		}
		return "confine: " + word + "\n"
	}
	for _, c := range []struct {
		own, locked string
		want        Confine
		node        policy.Effect // node -e, confined by the machine
	}{
		{"", "", Possible, policy.Allow},
		{"never", "", Possible, policy.Ask},
		{"always", "never", Always, policy.Ask},
		{"when_possible", "always", Always, policy.Allow},
		{"never", "never", Never, policy.Ask},
	} {
		own := builtin(t)
		own[execFilename] = testkit.Replace(t, own[execFilename], "\nconfine: when_possible\n", "\n"+says(c.own),
			1)
		locked := testkit.Replace(t, builtin(t)[execFilename], "\nconfine: when_possible\n", "\n"+says(c.locked),
			1)
		files, err := lockedSource(t, own, rulefile.Files{execFilename: locked}).Read()
		if err != nil {
			t.Fatal(err)
		}
		set, problems := untried(files)
		if set == nil {
			t.Fatal(problems)
		}
		at := exampleAt()
		at.Confined = true
		d := set.CheckCommand("node -e 'console.log(1)'", somebody, at)
		if got := set.Confine(); got != c.want || d.Effect != c.node {
			t.Errorf("%q and %q: %v, %s (%s)", c.own, c.locked, got, d.Effect, d.Rule)
		}
	}
}

// What confined commands have is as the operator says, in the home folder of the agent. A
// locked folder can only hide more.
func TestConfinedHas(t *testing.T) {
	own := builtin(t)
	files, err := lockedSource(t, own,
		rulefile.Files{execFilename: "version: 1\nconfined: {hidden: [OURS], secrets: [.env, x], read: [~/.rustup, /opt/theirs], environment: {GOCACHE: /none}}\n"}).Read()
	if err != nil {
		t.Fatal(err)
	}
	set, problems := Full.Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	c := set.Confined("/home/kim")
	if !slices.Equal(c.Read, []string{"/home/kim/.rustup"}) ||
		!slices.Contains(c.Write, "/home/kim/.cache/gpt-oss-executor/caches") ||
		c.Environment[len(c.Environment)-1] != "GOCACHE=/none" ||
		!slices.Contains(c.Environment, "CARGO_HOME=/home/kim/.cache/gpt-oss-executor/caches/cargo") ||
		!slices.Contains(c.Environment, "PIP_CONFIG_FILE=/dev/null") ||
		!slices.Equal(c.Secrets, []string{".env"}) || !slices.Contains(c.Hidden, "OURS") ||
		!slices.Contains(c.Hidden, "SSH_AUTH_SOCK") {
		t.Errorf("%+v", c)
	}
	for text, want := range map[string]string{
		"confined: {read: [x]}":               "x is not an absolute path",
		"confined: {write: ['~/']}":           "cannot be a folder of confined commands",
		"confined: {secrets: ['*']}":          "no name of a secret",
		"confined: {secrets: ['[']}":          "no name of a secret",
		"confined: {environment: {'A B': x}}": "no name of a variable",
	} {
		own := builtin(t)
		before, rest, _ := strings.Cut(own[execFilename], "\nconfined:\n")
		_, rest, _ = strings.Cut(rest, "\n# Commands as people")
		own[execFilename] = before + "\n" + text + "\n# Commands as people" + rest
		if _, problems := Full.Load(own); !strings.Contains(problems.Error(), want) {
			t.Errorf("%s: %v", text, problems)
		}
	}
}
