package secrets

import (
	"strings"
	"testing"
)

// Tokens that are none of anybody.
var tokens = map[string]string{
	"github-token": "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a",
	"gitlab-token": "glpat-" + "a1b2c3d4e5f6g7h8i9j0",
	"aws-key":      "AKIA" + "IOSFODNN7EXAMPLE",
	"slack-token":  "xoxb-" + "1234567890-abcdefghij",
	"google-key":   "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
	"api-key":      "sk-" + "proj-1234567890abcdefghij",
	"token":        "npm_" + "abcdefghijklmnopqrstuvwxyz0123456789",
	"bot-token":    "123456789:AA" + "Habcdefghijklmnopqrstuvwxyz01234567",
	"jwt":          "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123",
}

func TestTokens(t *testing.T) {
	for kind, secret := range tokens {
		got, n := Mask("use " + secret + " now")
		if n != 1 || !strings.HasPrefix(got, "use «masked:"+kind+":") || !strings.HasSuffix(got, "» now") {
			t.Errorf("%s: %q, %d", kind, got, n)
		}
	}
}

func TestMask(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		{`curl -H "Authorization: Bearer abc123def456" https://x`, `curl -H "Authorization: Bearer «masked:bearer:12»" https://x`},
		{`curl -H 'Authorization: Basic dXNlcjpwYXNzd29yZA==' x`, `curl -H 'Authorization: Basic «masked:basic:20»' x`},
		{`curl -H 'Authorization: hunter2' x`, `curl -H 'Authorization: «masked:secret:7»' x`},
		{`curl -H "Cookie: sid=abc; theme=dark" x`, `curl -H "Cookie: «masked:cookie:8» «masked:cookie:10»" x`},
		{`curl -u bob:hunter2 https://x`, `curl -u bob:«masked:user-password:7» https://x`},
		{`docker run -u 1000:1000 alpine`, `docker run -u 1000:1000 alpine`},
		{`git clone https://bob:hunter2@example.com/x.git`, `git clone https://bob:«masked:url-password:7»@example.com/x.git`},
		{`psql --password hunter2 -h db`, `psql --password «masked:password:7» -h db`},
		{`psql --password='hunter 2' -h db`, `psql --password='«masked:password:8»' -h db`},
		{`psql --password=a"b c"d -h db`, `psql --password=«masked:password:7» -h db`},
		{`x --password "a b"c -h db`, `x --password «masked:password:6» -h db`},
		{`PGPASSWORD=hunter2 psql; ls`, `PGPASSWORD=«masked:password:7» psql; ls`},
		{`export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG`, `export AWS_SECRET_ACCESS_KEY=«masked:secret:21»`},
		{`sh -c 'x --token=abc' 'foo'`, `sh -c 'x --token=«masked:secret:3»' 'foo'`},
		{`curl -d '{"password":"hunter2","n":1}' x`, `curl -d '{"password":"«masked:password:7»","n":1}' x`},
		{`curl -d "{\"password\": \"hunter2\"}" x`, `curl -d "{\"password\": \"«masked:password:7»\"}" x`},
		{`curl "https://x/?a=1&token=abc&b=2"`, `curl "https://x/?a=1&token=«masked:secret:3»&b=2"`},
		{`mysql -u root -phunter2 db`, `mysql -u root -p«masked:password:7» db`},
		{`sshpass -p hunter2 ssh x`, `sshpass -p «masked:password:7» ssh x`},
		{`MY_KEY=q8Zt1Lx0Pw7Vb3Nc5Rk9 run`, `MY_KEY=«masked:secret:20» run`},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\n", "-----BEGIN RSA PRIVATE KEY-----\n«masked:private-key:8»\n-----END RSA PRIVATE KEY-----\n"},
		{"-----BEGIN PRIVATE KEY-----\nMIIE", "-----BEGIN PRIVATE KEY-----\n«masked:private-key:4»"},
		{`DB_PASS=hunter2 npm start`, `DB_PASS=«masked:password:7» npm start`},
		{`SMTP_PASS='hunter 2' x`, `SMTP_PASS='«masked:password:8»' x`},
		{`SMTP_PASS='hunter2' x`, `SMTP_PASS='«masked:password:7»' x`},
		{`curl -d '{"pass":"hunter2"}' x`, `curl -d '{"pass":"«masked:password:7»"}' x`},
		{`curl -d '{"pass": "hunter2"}' x`, `curl -d '{"pass": "«masked:password:7»"}' x`},
		{`x --pass hunter2`, `x --pass «masked:password:7»`},
		{`PASSWORDS=a,b SECRET_KEYS=c,d x`, `PASSWORDS=«masked:password:3» SECRET_KEYS=«masked:secret:3» x`},
		{`docker login -u me -p hunter2 r.example.com`, `docker login -u me -p «masked:password:7» r.example.com`},
		{`redis-cli -h db -a hunter2 ping`, `redis-cli -h db -a «masked:password:7» ping`},
		{`openssl rsa -in k -passin pass:hunter2`, `openssl rsa -in k -passin pass:«masked:password:7»`},
		{`http -a me:hunter2 https://example.com`, `http -a me:«masked:user-password:7» https://example.com`},
		{`psql postgres://me:pa/ss@h/db`, `psql postgres://me:«masked:url-password:5»@h/db`},
		{`psql postgres://me:p@ss:w0rd@h/db`, `psql postgres://me:«masked:url-password:9»@h/db`},
		{`x http://a:b@c,http://d:e@f`, `x http://a:«masked:url-password:1»@c,http://d:«masked:url-password:1»@f`},
		// no secrets
		{`the test pass: 3 of 4, and the last pass: done`, `the test pass: 3 of 4, and the last pass: done`},
		{`pass=3 fail=1 first_pass=2 compass=north bypass=all`, `pass=3 fail=1 first_pass=2 compass=north bypass=all`},
		{`curl http://localhost:8080/@scope/x http://h:80/a@b`, `curl http://localhost:8080/@scope/x http://h:80/a@b`},
		{`docker run -p 8080:80 x; docker login`, `docker run -p 8080:80 x; docker login`},
		{`docker login r && docker run -p 8080:80 x`, `docker login r && docker run -p 8080:80 x`},
		{`redis-cli ping; ls -a me`, `redis-cli ping; ls -a me`},
		{`curl https://example.com -a me:x`, `curl https://example.com -a me:x`},
		{`cd $OLDPWD && PWD=/srv ls`, `cd $OLDPWD && PWD=/srv ls`},
		{`x --password $PASS --token ${T} --secret=$(cat f)`, `x --password $PASS --token ${T} --secret=$(cat f)`},
		{`docker login --password-stdin reg`, `docker login --password-stdin reg`},
		{`x --token-file /run/t --max_tokens=100`, `x --token-file /run/t --max_tokens=100`},
		{`cat secrets/token | wc -c`, `cat secrets/token | wc -c`},
		{`grep -r password src`, `grep -r password src`},
		{`git log --author=me key: value`, `git log --author=me key: value`},
		{`the bearer stands at the door`, `the bearer stands at the door`},
		{`ls sk-learn pk-list`, `ls sk-learn pk-list`},
		{``, ``},
	} {
		got, n := Mask(row.in)
		if got != row.want {
			t.Errorf("%s\n got %s\nwant %s", row.in, got, row.want)
		}
		if (n > 0) != (row.in != row.want) {
			t.Errorf("%s: %d secrets", row.in, n)
		}
		if again, n := Mask(got); again != got || n != 0 {
			t.Errorf("%s\ntwice: %s", got, again)
		}
	}
}

func TestMaskJSON(t *testing.T) {
	for _, row := range []struct {
		in, want string
		n        int
	}{
		{`{"command":"ls -l","n":1e999}`, `{"command":"ls -l","n":1e999}`, 0},
		{`{"password":"correct horse","user":"bob"}`, `{"password":"«masked:password:13»","user":"bob"}`, 1},
		{`{"env":{"API_TOKEN":"x<y","A":"b"}}`, `{"env":{"A":"b","API_TOKEN":"«masked:secret:3»"}}`, 1},
		{`{"tokens":["a"],"secret":["a",1]}`, `{"secret":["«masked:secret:1»","«masked:secret:1»"],"tokens":["a"]}`, 2},
		{`{"password":"a","password":"$PW"}`, `{"password":"$PW"}`, 1}, // the first one is gone
		{`{"a":[{"b":"ghp_0123456789012345678901234567890123456","b":1}]}`, `{"a":[{"b":1}]}`, 1},
		{`["curl","-u","me:hunter2","https://x"]`, `["curl","-u","me:«masked:user-password:7»","https://x"]`, 1},
		{`["foo","--password","hunter 2","-v"]`, `["foo","--password","«masked:password:8»","-v"]`, 1},
		{`["redis-cli","-h","db","-a","hunter2"]`, `["redis-cli","-h","db","-a","«masked:password:7»"]`, 1},
		{`["foo","--password","--verbose","-u","me"]`, `["foo","--password","--verbose","-u","me"]`, 0},
		{`{"name":"DB_PASSWORD","value":"hunter2"}`, `{"name":"DB_PASSWORD","value":"«masked:password:7»"}`, 1},
		{`{"password":{"value":"hunter2","type":"text"}}`, `{"password":{"type":"text","value":"«masked:password:7»"}}`, 1},
		{`{"pass":"hunter2","test":{"pass":"3 of 4"}}`, `{"pass":"«masked:password:7»","test":{"pass":"3 of 4"}}`, 1},
		{`{"name":"color","value":"red","pass":3}`, `{"name":"color","pass":3,"value":"red"}`, 0},
		{`{"command":"x --password hunter2"}`, `{"command":"x --password «masked:password:7»"}`, 1},
	} {
		got, n, err := MaskJSON([]byte(row.in))
		if err != nil || string(got) != row.want || n != row.n {
			t.Errorf("%s\n got %s, %d, %v\nwant %s, %d", row.in, got, n, err, row.want, row.n)
		}
	}
	for _, no := range []string{`{`, `{} ghp_0123456789012345678901234567890123456`, `{}}`, `1 2`} {
		if _, _, err := MaskJSON([]byte(no)); err == nil {
			t.Errorf("%s is a document", no)
		}
	}
}

// A document whose secrets are not masked holds none: whoever keeps it as it came keeps no secret.
func FuzzMaskJSON(f *testing.F) {
	f.Add(`{"a":"%s","a":"x"}`)
	f.Add(`[{"%s":1}, "%s"]`)
	f.Add(`{"a":1} %s`)
	f.Add(`{"a":{"b":"%s","b":2},"a":3}`)
	f.Fuzz(func(t *testing.T, form string) {
		for kind, secret := range tokens {
			if strings.ContainsAny(secret, "\"\\\n") {
				continue
			}
			doc := strings.ReplaceAll(form, "%s", secret)
			out, n, err := MaskJSON([]byte(doc))
			if kept := string(out); err == nil && (n == 0 && strings.Contains(doc, secret) ||
				strings.Contains(kept, secret)) {
				t.Errorf("%s survives: %s becomes %s, %d", kind, doc, kept, n)
			}
		}
	})
}

// Masked text stays as it is, and no token survives, whatever stands around it.
func FuzzMask(f *testing.F) {
	f.Add("curl -H 'Authorization: Bearer ", "' x")
	f.Add("--password=", "«masked:password:3»")
	f.Add(`{"token": "`, `"}`)
	f.Add("-----BEGIN PRIVATE KEY-----\\n", "\\n-----END")
	f.Add("https://a:", "@b")
	f.Fuzz(func(t *testing.T, before, behind string) {
		for kind, secret := range tokens {
			once, _ := Mask(before + " " + secret + " " + behind)
			if strings.Contains(once, secret) {
				t.Errorf("%s survives in %q", kind, once)
			}
			if twice, _ := Mask(once); twice != once {
				t.Errorf("%q\ntwice %q", once, twice)
			}
		}
	})
}

func BenchmarkMask(b *testing.B) {
	for name, s := range map[string]string{
		"plain":   strings.Repeat("go test ./... && git status --short; ", 8),
		"hostile": strings.Repeat("key=", 16<<10),
		"quoted":  `"` + strings.Repeat("token=$(", 8<<10),
		"urls":    strings.Repeat("://a:", 12<<10),
		"begin":   strings.Repeat("-----BEGIN PRIVATE KEY-----", 2<<10),
		"mysql":   strings.Repeat("mysql ", 10<<10),
		"secret":  `curl -H "Authorization: Bearer abc123def456" -d '{"password":"hunter2"}' https://bob:hunter2@example.com/x?key=1`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				Mask(s)
			}
		})
	}
}

func TestIsMasked(t *testing.T) {
	masked, _ := Mask("token ghp_0123456789abcdefghijABCDEFGHIJ012345")
	for text, want := range map[string]bool{masked: true, "": false, "«masked: no»": false,
		"«masked:what:3»": false} {
		if IsMasked(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
