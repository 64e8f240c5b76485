package ruleset

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// TestBlockedCommands: an entry means what a command does, however it is spelt, and
// nothing that only looks like it.
func TestBlockedCommands(t *testing.T) {
	files := shipped(t)
	files[execFilename] = `version: 1
profile: permissive
blocked_commands: ['rm -rf /', shutdown, git push --force, docker *, rm -rf dist]
`
	set, problems := Full.Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	for command, blocked := range map[string]bool{
		"rm -rf /": true, "rm -r -f /": true, "rm --recursive --force /": true, "rm -Rf -- /": true,
		"r''m -fr //": true, "cd / && rm -rf .": true,
		"sudo rm -rf /": true, "sh -c 'rm -rf /'": true, "rm -rf /*": true, "shutdown now": true,
		"/sbin/shutdown": true, "git push origin --force": true,
		"git push -f": true, "docker ps": true,
		"rm -rf dist": true, "rm -fr ./dist/": true, "rm -rf dist2": false,
		"rm -rf ./x": false, "rm -r x": false, "echo 'rm -rf /'": false, "echo shutdown": false,
		"grep -r shutdown .": false, "git push": false, "git log -f": false,
	} {
		d := set.CheckCommand(command, somebody, corpusAt)
		if got := d.Rule == "blocked_commands"; got != blocked && !(blocked && d.Effect == policy.Deny) {
			t.Errorf("%s: %s by %s", command, d.Effect, d.Rule)
		}
	}
	all := set.Expansions()
	if len(all) != 5 || all[0].Effect != policy.Deny ||
		!strings.HasPrefix(all[0].When,
			"cmd.binary == 'rm' and any(cmd.flags, # in ['-r', '-R', '--recursive'])") {
		t.Errorf("%+v", all)
	}
}

// TestEntriesMatchThemselves: no entry of the two lists is taken that does nothing, and each means
// the same in another spelling, and nothing beside it.
func TestEntriesMatchThemselves(t *testing.T) {
	for _, c := range []struct {
		entry      string
		also, miss []string
	}{
		{"find / -delete", nil, []string{"find / -print"}},
		{"terraform destroy -auto-approve", []string{"terraform -chdir=x destroy -auto-approve"}, []string{"terraform destroy", "terraform apply -auto-approve"}},
		{"java -jar x.jar", nil, []string{"java -jar y.jar"}},
		{"make -j4", []string{"make --jobs=4", "make -k -j4 all"}, []string{"make", "make -j2", "make 4"}},
		{"python -m http.server", []string{"python -mhttp.server", "python -m http.server 80"}, []string{"python x.py", "python -m json.tool"}},
		{"python -mhttp.server", []string{"python -m http.server"}, []string{"python x.py"}},
		{"FOO=1 ls", []string{"env FOO=1 ls"}, []string{"ls"}},
		{"rm -rf ~", []string{"rm -rf $HOME", "rm -rf ~/", "rm -fr /home/agent", "cd; rm -rf ."}, []string{"rm -rf ~/x", "rm -rf /"}},
		{"git commit -m x", []string{"git commit --message=x", "git commit -a -mx"}, []string{"git commit -m y", "git commit", "git log x"}},
		{"cat ~/notes.md", []string{"cat $HOME/notes.md", "cd ~ && cat notes.md"}, []string{"cat notes.md", "cat ~/x"}},
		{"curl -o x https://example.com", []string{"curl https://example.com --output x", "curl -sox https://example.com"}, []string{"curl https://example.com"}},
		{"sudo rm -rf x", []string{"sudo -u bob rm -r -f ./x"}, []string{"rm -rf x", "sudo rm y"}},
		{"npm i", []string{"npm install", "npm i x"}, []string{"npm run i"}},
		{"docker compose", []string{"docker compose up"}, []string{"docker ps"}},
		{"tar xf a", []string{"tar -xfa", "tar --extract --file=a"}, []string{"tar cf a b"}},
		{"rm -rf ./", []string{"rm -rf ."}, []string{"rm -rf x"}},
		{"head -5 x", nil, []string{"head x"}},
		{"frob --foo=bar", nil, []string{"frob --foo"}},
		{"mysql -ppw", nil, []string{"mysql"}},
		{"cp ./a b", nil, []string{"cp b c"}},
	} {
		files := shipped(t)
		files[execFilename] = "version: 1\nprofile: permissive\nblocked_commands: ['" + c.entry + "']\n"
		set, problems := Full.Load(files)
		if set == nil {
			t.Error(problems)
			continue
		}
		at := corpusAt
		at.World.Home = "/home/agent"
		for _, command := range append(c.also, c.entry) {
			if d := set.CheckCommand(command, somebody, at); d.Rule != "blocked_commands" {
				t.Errorf("%s under %s: %s by %s", command, c.entry, d.Effect, d.Rule)
			}
		}
		for _, command := range c.miss {
			if d := set.CheckCommand(command, somebody, at); d.Rule == "blocked_commands" {
				t.Errorf("%s under %s: %s by %s", command, c.entry, d.Effect, d.Rule)
			}
		}
	}
}

// TestDeadEntries: an entry that can never hold is a mistake.
func TestDeadEntries(t *testing.T) {
	for _, list := range []string{"allowed_commands: [./git status]", "allowed_commands: [cat ~bob]",
		"blocked_commands: [export A=~/x]", "blocked_commands: ['ls #x']", "blocked_commands: ['']"} {
		files := shipped(t)
		files[execFilename] = "version: 1\n" + list + "\n"
		if set, _ := Full.Load(files); set != nil {
			t.Error(list, "is taken")
		}
	}
}

// TestAllowedCommands: an entry allows a program with what stands behind it, and the
// folders and addresses stay what they are.
func TestAllowedCommands(t *testing.T) {
	files := shipped(t)
	files[execFilename] = `version: 1
profile: strict
allowed_commands: [git status, ls, docker compose up, make test, npm run build, make -j4, git commit -m x, cat ~/notes.md, cp ./a b]
`
	set, problems := Full.Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	for command, want := range map[string]policy.Effect{
		"git status": policy.Allow, "git status -s && ls": policy.Allow, "ls -l src": policy.Allow,
		"/usr/bin/git status":  policy.Allow,
		"docker compose up -d": policy.Allow, "make -j2 test": policy.Allow, "npm run build": policy.Allow,
		"npm run evil build": policy.Deny, "git -C src status": policy.Allow,
		"git push origin status": policy.Deny, "git push status": policy.Deny,
		"docker up compose": policy.Deny, "docker run compose up": policy.Deny,
		"make -j4": policy.Allow, "make -j2": policy.Deny, "git commit -m x": policy.Allow,
		"git commit -m y": policy.Deny, "cp ./a b": policy.Allow, "cp b a": policy.Deny,
		"git push": policy.Deny, "cat x": policy.Deny, "ls | sh": policy.Deny, "./git status": policy.Deny,
		"ls /root/.ssh": policy.Deny, "ls $X": policy.Deny,
	} {
		if d := set.CheckCommand(command, somebody, corpusAt); d.Effect != want {
			t.Errorf("%s: %s by %s, %s", command, d.Effect, d.Rule, d.Why)
		}
	}
}
