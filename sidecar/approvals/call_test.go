package approvals

import (
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/policy/shell"
)

func call() Call {
	return Call{
		Tool: "exec", Arguments: `{"command":"git push -f origin main"}`, Command: "git push -f origin main",
		Cwd:     "/srv/shop",
		Session: "s1", Agent: "main", Model: "gpt-oss", Policy: "0123456789ab",
		Commands: []Command{{Path: "/usr/bin/git", Argv: []string{"git", "push", "-f", "origin", "main"},
			Env: []string{"GIT_DIR"}, Cwd: "/srv/shop"}},
		Files: []File{{Path: "/usr/bin/git", SHA256: "ab"}},
	}
}

// Whatever changes, the answer is for another call. The test walks the type, so that a
// field that is added later must be bound, too.
func TestEveryFieldIsBound(t *testing.T) {
	before := call()
	for _, path := range leaves(reflect.ValueOf(before), nil) {
		c := call()
		v := reflect.ValueOf(&c).Elem()
		name := ""
		for _, i := range path {
			if v.Kind() == reflect.Struct {
				name += "." + v.Type().Field(i).Name
				v = v.Field(i)
			} else {
				v = v.Index(i)
			}
		}
		if v.Kind() == reflect.String {
			v.SetString(v.String() + " ")
			if name == ".Arguments" { // where white space at the end is none
				v.SetString(`{"command":"git push -f  origin main"}`)
			}
		} else {
			v.SetUint(v.Uint() + 1)
		}
		if same := c.Binding() == before.Binding(); same != (name == ".Model") {
			t.Errorf("%s %v: the same binding: %v", name, path, same)
		}
	}
}

// leaves are the ways to all texts and numbers in a value.
func leaves(v reflect.Value, at []int) (out [][]int) {
	n := 0
	switch v.Kind() {
	case reflect.Struct:
		n = v.NumField()
	case reflect.Slice:
		n = v.Len()
	default:
		return [][]int{at}
	}
	for i := range n {
		next := append(append([]int(nil), at...), i)
		if v.Kind() == reflect.Struct {
			out = append(out, leaves(v.Field(i), next)...)
		} else {
			out = append(out, leaves(v.Index(i), next)...)
		}
	}
	return out
}

// Calls that look alike when their parts are put together.
func TestNearCalls(t *testing.T) {
	seen := map[Binding]string{}
	for name, change := range map[string]func(*Call){
		"as it is": func(*Call) {},
		"a word is two": func(c *Call) {
			c.Commands[0].Argv = []string{"git", "push", "-f", "origin main"}
		},
		"a word more": func(c *Call) { c.Commands[0].Argv = append(c.Commands[0].Argv, "") },
		"a word less": func(c *Call) { c.Commands[0].Argv = c.Commands[0].Argv[:4] },
		"words change places": func(c *Call) {
			c.Commands[0].Argv = []string{"git", "push", "origin", "-f", "main"}
		},
		"a variable is a word": func(c *Call) {
			c.Commands[0].Argv = append(c.Commands[0].Argv, "GIT_DIR")
			c.Commands[0].Env = nil
		},
		"a variable more":   func(c *Call) { c.Commands[0].Env = []string{"GIT_DIR", "GIT_SSH"} },
		"twice":             func(c *Call) { c.Commands = append(c.Commands, c.Commands[0]) },
		"nothing known":     func(c *Call) { c.Commands = nil },
		"no files":          func(c *Call) { c.Files = nil },
		"a file more":       func(c *Call) { c.Files = append(c.Files, File{}) },
		"session and agent": func(c *Call) { c.Session, c.Agent = c.Agent, c.Session },
		"tool and session":  func(c *Call) { c.Tool, c.Session = c.Tool+c.Session, "" },
		"a number's type":   func(c *Call) { c.Arguments = `{"n":1}` },
		"a number's form":   func(c *Call) { c.Arguments = `{"n":1.0}` },
		"a text":            func(c *Call) { c.Arguments = `{"n":"1"}` },
		"half a character":  func(c *Call) { c.Arguments = `{"n":"\ud800"}` },
		"its replacement":   func(c *Call) { c.Arguments = `{"n":"\ufffd"}` },
		"not JSON":          func(c *Call) { c.Arguments = `{"n": 1` },
		"not JSON, compact": func(c *Call) { c.Arguments = `{"n":1` },
	} {
		c := call()
		change(&c)
		if other, is := seen[c.Binding()]; is {
			t.Errorf("%s is bound as %s", name, other)
		}
		seen[c.Binding()] = name
	}
	a, b := call(), call()
	b.Arguments, b.Model = "{ \"command\" :\n\"git push -f origin main\" }", "gpt-oss-20b"
	if a.Binding() != b.Binding() {
		t.Error("white space between the arguments, or the model, makes another call")
	}
}

// No two calls are written alike, because each can be read back.
func TestEncodingsDoNotCollide(t *testing.T) {
	words := rapid.SliceOfN(rapid.StringN(0, 4, -1), 0, 3)
	word := rapid.StringN(0, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		c := Call{Tool: word.Draw(t, "tool"), Arguments: word.Draw(t, "arguments"),
			Command: word.Draw(t, "command"), Cwd: word.Draw(t, "cwd"),
			Session: word.Draw(t, "session"), Agent: word.Draw(t, "agent"), Client: word.Draw(t, "client"),
			Policy: word.Draw(t, "policy")}
		for range rapid.IntRange(0, 3).Draw(t, "commands") {
			c.Commands = append(c.Commands, Command{word.Draw(t, "path"), words.Draw(t, "argv"),
				words.Draw(t, "env"), word.Draw(t, "cwd")})
		}
		for range rapid.IntRange(0, 2).Draw(t, "files") {
			c.Files = append(c.Files, File{word.Draw(t, "path"), word.Draw(t, "sum")})
		}
		want := c
		want.Arguments = compact(c.Arguments)
		d := decoder(c.encode())
		if diff := cmp.Diff(want, d.call(), cmp.Comparer(func(a, b []string) bool {
			return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
		})); diff != "" || len(d) > 0 {
			t.Fatalf("%d bytes left, %s", len(d), diff)
		}
	})
}

// decoder reads what encode has written.
type decoder []byte

func (d *decoder) number() uint64 {
	n := binary.BigEndian.Uint64(*d)
	*d = (*d)[8:]
	return n
}

func (d *decoder) text() string {
	n := d.number()
	s := string((*d)[:n])
	*d = (*d)[n:]
	return s
}

func (d *decoder) texts() (out []string) {
	for range d.number() {
		out = append(out, d.text())
	}
	return out
}

func (d *decoder) call() (c Call) {
	d.text()
	for _, to := range []*string{&c.Tool, &c.Arguments, &c.Command, &c.Cwd, &c.Session, &c.Agent,
		&c.Client, &c.Policy} {
		*to = d.text()
	}
	for range d.number() {
		c.Commands = append(c.Commands, Command{d.text(), d.texts(), d.texts(), d.text()})
	}
	for range d.number() {
		c.Files = append(c.Files, File{d.text(), d.text()})
	}
	return c
}

func TestCommandsOf(t *testing.T) {
	script := &shell.Script{Commands: []shell.Command{
		{Binary: "git", Path: "/usr/bin/git", Argv: []string{"git", "push"}, Env: []string{"A"}, Cwd: "/x"}, {Binary: "ls", Argv: []string{"ls"}},
	}}
	want := []Command{{"/usr/bin/git", []string{"git", "push"}, []string{"A"}, "/x"}, {Argv: []string{"ls"}}}
	if diff := cmp.Diff(want, CommandsOf(script)); diff != "" || CommandsOf(nil) != nil {
		t.Error(diff)
	}
}
