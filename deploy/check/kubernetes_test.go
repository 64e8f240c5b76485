package check

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	budgets "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	security "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

var update = flag.Bool("update", false, "rewrite the files that are made of others")

// cluster is what the manifests say, each read with the types of Kubernetes, strictly.
type cluster struct {
	deployment apps.Deployment
	service    core.Service
	rules      core.ConfigMap
	secret     core.Secret
	network    networking.NetworkPolicy
	budget     budgets.PodDisruptionBudget
	monitor    monitoring.ServiceMonitor
	alerts     monitoring.PrometheusRule
}

func (c *cluster) files() map[string]any {
	return map[string]any{
		"deployment.yaml": &c.deployment, "service.yaml": &c.service, "rules.yaml": &c.rules,
		"secret.yaml":        &c.secret,
		"networkpolicy.yaml": &c.network, "poddisruptionbudget.yaml": &c.budget,
		"servicemonitor.yaml": &c.monitor, "prometheusrule.yaml": &c.alerts,
	}
}

func manifests(t *testing.T) *cluster {
	t.Helper()
	var c cluster
	for name, to := range c.files() {
		if err := yaml.UnmarshalStrict(read(t, "../kubernetes/"+name), to); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return &c
}

// Each manifest is of the kind that it says, has a good name, and kustomization.yaml has them all.
func TestManifests(t *testing.T) {
	c := manifests(t)
	kinds := map[string]string{
		"deployment.yaml": "apps/v1 Deployment", "service.yaml": "v1 Service", "rules.yaml": "v1 ConfigMap",
		"secret.yaml":              "v1 Secret",
		"networkpolicy.yaml":       "networking.k8s.io/v1 NetworkPolicy",
		"poddisruptionbudget.yaml": "policy/v1 PodDisruptionBudget",
		"servicemonitor.yaml":      "monitoring.coreos.com/v1 ServiceMonitor",
		"prometheusrule.yaml":      "monitoring.coreos.com/v1 PrometheusRule",
	}
	for name, want := range kinds {
		var head meta.PartialObjectMetadata
		if err := yaml.Unmarshal(read(t, "../kubernetes/"+name), &head); err != nil {
			t.Fatal(err)
		}
		if got := head.APIVersion + " " + head.Kind; got != want {
			t.Errorf("%s is a %s", name, got)
		}
		if bad := validation.IsDNS1123Subdomain(head.Name); len(bad) > 0 || head.Namespace != "" {
			t.Errorf("%s: name %q, namespace %q: %v", name, head.Name, head.Namespace, bad)
		}
		for k, v := range head.Labels {
			if bad := append(validation.IsQualifiedName(k),
				validation.IsValidLabelValue(v)...); len(bad) > 0 {
				t.Errorf("%s: label %s=%s: %v", name, k, v, bad)
			}
		}
	}
	var all struct{ Resources []string }
	if err := yaml.Unmarshal(read(t, "../kubernetes/kustomization.yaml"), &all); err != nil {
		t.Fatal(err)
	}
	if want := slices.Sorted(maps.Keys(kinds)); !slices.Equal(slices.Sorted(slices.Values(all.Resources)),
		want) {
		t.Errorf("kustomization.yaml has %v, and not %v", all.Resources, want)
	}
	here, err := filepath.Glob("../kubernetes/*.yaml")
	if err != nil || len(here) != len(kinds)+1 {
		t.Errorf("there are %d files, of which %d are read: %v", len(here), len(kinds), err)
	}
	if c.secret.StringData["token"] != "" || c.secret.StringData["admin-token"] != "" {
		t.Error("secret.yaml holds a secret")
	}
}

// What names another thing names one that there is.
func TestManifestsFit(t *testing.T) {
	c := manifests(t)
	pod := c.deployment.Spec.Template
	has := func(what string, selector *meta.LabelSelector) {
		s, err := meta.LabelSelectorAsSelector(selector)
		if err != nil || s.Empty() || !s.Matches(labels.Set(pod.Labels)) {
			t.Errorf("%s chooses %v, which the pods are not: %v", what, selector, err)
		}
	}
	has("the deployment", c.deployment.Spec.Selector)
	has("the budget", c.budget.Spec.Selector)
	has("the network policy", &c.network.Spec.PodSelector)
	has("the service", &meta.LabelSelector{MatchLabels: c.service.Spec.Selector})
	for _, s := range pod.Spec.TopologySpreadConstraints {
		has("the spread", s.LabelSelector)
	}
	if s, err := meta.LabelSelectorAsSelector(&c.monitor.Spec.Selector); err != nil ||
		!s.Matches(labels.Set(c.service.Labels)) {
		t.Errorf("the monitor does not choose the service: %v", err)
	}
	if n := c.budget.Spec.MinAvailable.IntValue(); n < 1 || n >= int(*c.deployment.Spec.Replicas) {
		t.Errorf("of %d pods %d must be there: none can be moved", *c.deployment.Spec.Replicas, n)
	}

	one := pod.Spec.Containers[0]
	ports := map[string]int32{}
	for _, p := range one.Ports {
		ports[p.Name] = p.ContainerPort
	}
	for _, p := range c.service.Spec.Ports {
		if ports[p.TargetPort.StrVal] != p.Port {
			t.Errorf("the service leads to port %v", p.TargetPort)
		}
	}
	for _, e := range c.monitor.Spec.Endpoints {
		if e.Path != "/metrics" || e.Port != c.service.Spec.Ports[0].Name {
			t.Errorf("the monitor asks %s at %s", e.Path, e.Port)
		}
	}
	for _, in := range c.network.Spec.Ingress {
		for _, p := range in.Ports {
			if ports[p.Port.StrVal] == 0 || len(in.From) == 0 {
				t.Errorf("the network policy lets %v in from %v", p.Port, in.From)
			}
		}
	}
	for _, probe := range []*core.Probe{one.StartupProbe, one.LivenessProbe, one.ReadinessProbe} {
		if probe.HTTPGet.Path != "/healthz" || ports[probe.HTTPGet.Port.StrVal] == 0 {
			t.Errorf("a probe asks %+v", probe.HTTPGet)
		}
	}
	volumes(t, c, pod.Spec.Volumes, one)
	settings(t, c, one)
	var drain time.Duration
	for _, v := range one.Env {
		if v.Name == "GPTOSS_EXECUTOR_DRAIN" {
			drain, _ = time.ParseDuration(v.Value)
		}
	}
	if grace := *pod.Spec.TerminationGracePeriodSeconds; drain == 0 || grace < int64(drain.Seconds())+30+5 {
		t.Errorf("%d s to end are too few for a drain of %s and time.grace", grace, drain)
	}
}

func volumes(t *testing.T, c *cluster, list []core.Volume, one core.Container) {
	t.Helper()
	mounted := map[string]core.VolumeMount{}
	for _, m := range one.VolumeMounts {
		mounted[m.Name] = m
		if m.SubPath != "" {
			t.Errorf("%s has a subPath, so it is never updated", m.Name)
		}
	}
	for _, v := range list {
		m, ok := mounted[v.Name]
		if !ok {
			t.Errorf("nothing mounts %s", v.Name)
		}
		delete(mounted, v.Name)
		switch {
		case v.ConfigMap != nil:
			taken := map[string]bool{}
			for _, i := range v.ConfigMap.Items {
				if taken[i.Key] = true; c.rules.Data[i.Key] == "" {
					t.Errorf("the rules have no %s", i.Key)
				}
			}
			for key := range c.rules.Data {
				if !taken[key] {
					t.Errorf("%s of the rules is not mounted", key)
				}
			}
			if v.ConfigMap.Name != c.rules.Name || !m.ReadOnly {
				t.Errorf("rules: %s, read-only %t", v.ConfigMap.Name, m.ReadOnly)
			}
		case v.Secret != nil && (v.Secret.SecretName != c.secret.Name || !m.ReadOnly ||
			*v.Secret.DefaultMode != 0o440):
			t.Errorf("secrets: %+v, read-only %t", v.Secret, m.ReadOnly)
		}
	}
	for name := range mounted {
		t.Errorf("%s is mounted, and is no volume", name)
	}
}

// settings: each variable is a setting, and what names a file names one that is mounted.
func settings(t *testing.T, c *cluster, one core.Container) {
	t.Helper()
	s := config.Settings{Parts: stage.Settings()}
	if err := s.Override(environ(one)); err != nil {
		t.Error(err)
	}
	for _, e := range one.Env {
		if file, ok := strings.CutPrefix(e.Value, "file:/secrets/"); ok {
			if _, there := c.secret.StringData[file]; !there {
				t.Errorf("%s: the secret has no %s", e.Name, file)
			}
		}
	}
	if s.Listen != ":8001" || s.Rules != "/rules" || s.State != "/state" ||
		!strings.HasPrefix(s.Admin, "127.0.0.1:") {
		t.Errorf("settings %+v", s)
	}
}

func environ(one core.Container) (out []string) {
	for _, e := range one.Env {
		out = append(out, e.Name+"="+e.Value)
	}
	return out
}

// The pods keep to what Kubernetes calls restricted, in its newest version.
func TestPodIsRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := security.LevelVersion{Level: security.LevelRestricted, Version: security.LatestVersion()}
	pod := manifests(t).deployment.Spec.Template
	for _, r := range evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
		if !r.Allowed {
			t.Errorf("%s: %s", r.ForbiddenReason, r.ForbiddenDetail)
		}
	}
	pod.Spec.Containers[0].SecurityContext.Capabilities = nil
	if r := policy.AggregateCheckResults(evaluator.EvaluatePod(level, &pod.ObjectMeta,
		&pod.Spec)); r.Allowed {
		t.Error("a pod that keeps capabilities passes, too: nothing is tested")
	}
	if one := manifests(t).deployment.Spec.Template.Spec.Containers[0]; !*one.SecurityContext.ReadOnlyRootFilesystem {
		t.Error("the root of the container can be written")
	}
}

// The alerts for the Prometheus operator are those of rules.yaml.
func TestPrometheusRule(t *testing.T) {
	const head = `# Made of ../prometheus/rules.yaml by: cd deploy/check && go test -run TestPrometheusRule -update
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: gpt-oss-executor
  labels: {app.kubernetes.io/name: gpt-oss-executor}
spec:
`
	_, groups, _ := bytes.Cut(read(t, "../prometheus/rules.yaml"), []byte("\ngroups:\n"))
	var want strings.Builder
	want.WriteString(head + "  groups:\n")
	for line := range strings.Lines(string(groups)) {
		if strings.TrimSpace(line) != "" {
			line = "  " + line
		}
		want.WriteString(line)
	}
	const file = "../kubernetes/prometheusrule.yaml"
	if *update {
		if err := os.WriteFile(file, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(read(t, file)); got != want.String() {
		t.Error("prometheusrule.yaml is not made of rules.yaml: run it with -update")
	}
	var plain, wrapped any
	if err := yaml.Unmarshal(read(t, "../prometheus/rules.yaml"), &plain); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(read(t, file), &wrapped); err != nil {
		t.Fatal(err)
	}
	a, _ := yaml.Marshal(plain)
	b, _ := yaml.Marshal(wrapped.(map[string]any)["spec"])
	if !bytes.Equal(a, b) {
		t.Error("they do not say the same")
	}
}
