package check

import (
	"testing"

	apps "k8s.io/api/apps/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Kustomize, as kubectl apply -k has it, makes one set of the manifests, with the image of one's own
// registry.
func TestKustomize(t *testing.T) {
	all, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(),
		"../kubernetes")
	must(t, err)
	if all.Size() != 8 {
		t.Errorf("%d resources", all.Size())
	}
	for _, r := range all.Resources() {
		if r.GetKind() != "Deployment" {
			continue
		}
		text, err := r.AsYAML()
		must(t, err)
		var d apps.Deployment
		must(t, yaml.UnmarshalStrict(text, &d))
		if got := d.Spec.Template.Spec.Containers[0].Image; got != "registry.example.com/gpt-oss-executor:replace-me" {
			t.Errorf("the image is %s", got)
		}
	}
}
