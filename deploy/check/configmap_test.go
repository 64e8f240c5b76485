package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	core "k8s.io/api/core/v1"
)

// mount is a folder as kubelet makes it of a ConfigMap: the files are in a folder with the time as its name,
// ..data is a link to that, and what users see are links through ..data.
type mount struct {
	t     *testing.T
	dir   string
	items []core.KeyToPath
	n     int
}

// swap does what kubelet does after a change: a new folder, one atomic rename of ..data, links for what is
// new, none for what is gone, and away with the old folder.
func (m *mount) swap(data map[string]string) {
	m.t.Helper()
	must := func(err error) {
		m.t.Helper()
		if err != nil {
			m.t.Fatal(err)
		}
	}
	old, _ := os.Readlink(filepath.Join(m.dir, "..data"))
	m.n++
	now := fmt.Sprintf("..2026_11_26_10_00_%02d.123456789", m.n)
	tops := map[string]bool{}
	for _, i := range m.items {
		text, there := data[i.Key]
		if !there {
			continue
		}
		file := filepath.Join(m.dir, now, i.Path)
		must(os.MkdirAll(filepath.Dir(file), 0o755))
		must(os.WriteFile(file, []byte(text), 0o644))
		tops[strings.Split(i.Path, "/")[0]] = true
	}
	must(os.Symlink(now, filepath.Join(m.dir, "..data_tmp")))
	must(os.Rename(filepath.Join(m.dir, "..data_tmp"), filepath.Join(m.dir, "..data")))
	for top := range tops {
		if _, err := os.Lstat(filepath.Join(m.dir, top)); err != nil {
			must(os.Symlink(filepath.Join("..data", top), filepath.Join(m.dir, top)))
		}
	}
	seen, err := os.ReadDir(m.dir)
	must(err)
	for _, e := range seen {
		if !strings.HasPrefix(e.Name(), "..") && !tops[e.Name()] {
			must(os.Remove(filepath.Join(m.dir, e.Name())))
		}
	}
	if old != "" {
		must(os.RemoveAll(filepath.Join(m.dir, old)))
	}
}

// The rules of the manifests load in the mount of the manifests, and every change of the ConfigMap is in
// force without a restart: of a file, of one in a folder, of one that goes and comes back. What does not load
// changes nothing.
func TestConfigMapIsReloaded(t *testing.T) {
	c := manifests(t)
	pod := c.deployment.Spec.Template.Spec
	m := &mount{t: t, dir: filepath.Join(t.TempDir(), "rules")}
	for _, v := range pod.Volumes {
		if v.ConfigMap != nil {
			m.items = v.ConfigMap.Items
		}
	}
	data := c.rules.Data
	m.swap(data)

	secrets := t.TempDir()
	for key := range c.secret.StringData {
		if err := os.WriteFile(filepath.Join(secrets, key), []byte("secret of "+key), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	at, admin, state := testkit.Address(t), testkit.Address(t), t.TempDir()
	cmd := exec.Command(built(t), pod.Containers[0].Args...)
	cmd.Dir = t.TempDir()
	for _, e := range environ(pod.Containers[0]) {
		e = strings.NewReplacer("=/rules", "="+m.dir, "=/state", "="+state, "file:/secrets", "file:"+secrets,
			"=:8001", "="+at,
			"=127.0.0.1:8002", "="+admin, "http://model:8000/v1", model(t)).Replace(e)
		cmd.Env = append(cmd.Env, e)
	}
	p := start(t, cmd)
	page := func() string { return get(t, "http://"+at+"/metrics") }
	eventually(t, "it serves", func() bool { return get(t, "http://"+at+"/healthz") != "" })
	if strings.Contains(p.out.String(), `"rules_warning"`) || strings.Contains(p.out.String(), "W-") {
		t.Errorf("the rules of the manifests come with warnings:\n%s", p.out)
	}
	if status, text := chat(t, at, "", "hello"); status != 401 {
		t.Errorf("without a token: %d %s", status, text)
	}
	if status, text := chat(t, at, "secret of token", "hello"); status != 200 {
		t.Fatalf("with the token: %d %s", status, text)
	}

	version := regexp.MustCompile(`rules_info\{version="(\w+)"\} 1`)
	known := map[string]bool{}
	inForce := func() string {
		if v := version.FindStringSubmatch(page()); v != nil {
			return v[1]
		}
		return ""
	}
	known[inForce()] = true
	change := func(what, key, text string) string {
		t.Helper()
		if text == "" {
			delete(data, key)
		} else {
			data[key] = text
		}
		m.swap(data)
		var now string
		eventually(t, what+" is in force", func() bool { now = inForce(); return now != "" && !known[now] })
		known[now] = true
		return now
	}
	change("a file that says more", "limits.yaml",
		"version: 1\ninclude: [builtin/limits.yaml]\nsize: {depth: 99}\n")
	change("a file in a folder", "aliases.ours.yaml", "version: 1\ntools: {read: [have_a_look]}\n")
	good := change("a file that goes, with its folder", "aliases.ours.yaml", "")

	data["exec.yaml"] = "version: 1\ninclude: [builtin/exec.yaml]\nrules: never\n"
	m.swap(data)
	eventually(t, "a bad edit is refused",
		func() bool { return strings.Contains(page(), "gptoss_executor_rules_last_reload_successful 0") })
	if now := inForce(); now != good {
		t.Errorf("a bad edit has put %s in force, in place of %s", now, good)
	}
	if status, text := chat(t, at, "secret of token", "hello"); status != 200 {
		t.Errorf("with a bad edit on disk: %d %s", status, text)
	}
	data["exec.yaml"] = "version: 1\ninclude: [builtin/exec.yaml]\n"
	change("a file that comes back, with its folder", "aliases.ours.yaml",
		"version: 1\ntools: {read: [have_another_look]}\n")
	if !strings.Contains(page(), "gptoss_executor_rules_last_reload_successful 1") {
		t.Error("the good edit after the bad one is not told")
	}
	if code := p.stop(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}
