package program

import (
	"slices"
	"strings"
)

// containers are programs that run others in a container or a cluster.
var containers = family{
	"docker podman nerdctl": {opts: `
		-[Dv] -H|--host=url:container-escape -c|--context=:remote -l|--log-level= --config=load --tls --tlsverify --tlscacert=read
		--tlscert=read --tlskey=read --debug --version`, own: true, open: true, subs: dockerSubs},
	"docker-compose podman-compose": {opts: composeOptions, open: true, subs: composeSubs},
	"kubectl oc k3s-kubectl": {opts: `
		-n|--namespace= --context= --cluster= --user= --kubeconfig=load -s|--server=url:remote --token= --as=:privilege --as-group=:privilege --as-uid=:privilege --insecure-skip-tls-verify:net-override --profile= --profile-output=write
		-o|--output= -l|--selector= -f|--filename=from -c|--container= --field-selector= --request-timeout= -A|--all-namespaces
		--certificate-authority=read --client-certificate=read --client-key=read -k|--kustomize=from -v= --cache-dir=write
		-w|--watch`, open: true, then: kubectlSecrets, subs: kubectlSubs},
	"helm": {opts: `
		-n|--namespace= --kube-context= --kubeconfig=load -f|--values=read --set= --set-string= --set-file= --version=
		--repo=url -o|--output= --post-renderer=exec --registry-config=read --repository-config=read -d|--destination=write
		--keyring=read`, open: true, subs: []sub{
		{`
		list|ls status get history|hist show|inspect search template lint env version help verify completion`, row{}}, {"dependency|dep repo pull|fetch create package", row{tags: "config-or-install"}},
		{"install upgrade|up uninstall|delete|del|un rollback test", row{tags: "container"}}, {"push registry", row{tags: "publish"}}, {"plugin", row{tags: "config-or-install opaque-exec"}}}},
	"kustomize": {open: true, opts: `
		-o|--output=write --enable-helm:opaque-exec --enable-alpha-plugins:opaque-exec --enable-exec:opaque-exec
		--helm-command=exec`, subs: []sub{{"build", row{then: kustomization}}, {"version help cfg", row{}}, {"create edit localize", row{tags: "config-or-install"}}}},
	`
		kind minikube k3d k3s k9s skaffold tilt stern kubectx kubens argocd flux istioctl`: {tags: "container", open: true},
	`
		ctr crictl runc crun buildah lxc lxc-attach lxd incus machinectl systemd-nspawn vagrant virsh multipass qemu-system
		qemu-img VBoxManage apptainer singularity distrobox toolbox`: {tags: "container namespace", open: true},
	"skopeo":                         {opts: "--authfile=read --creds=", open: true, subs: []sub{{"inspect list-tags", row{}}, {"copy delete sync login logout", row{tags: "publish"}}}},
	"hadolint dive trivy grype syft": {opts: "-c|--config=load -o|--output=write -f|--format=", operands: "skip*", open: true},
}

const composeOptions = "-f|--file=read -p|--project-name= --profile= --env-file=read --project-directory=dir --ansi= --progress= --parallel="

const dockerRun = `
	-[ditPqT] -v|--volume= --mount= --privileged:container-escape --pid= --ipc= --uts= --userns= --cgroupns=
	--network|--net= --cap-add=:container-escape --cap-drop= --device=:container-escape --security-opt=:container-escape
	--volumes-from= --device-cgroup-rule=:container-escape --cgroup-parent= -e|--env= --env-file=read --label-file=read
	-l|--label= -p|--publish= --expose= -w|--workdir= -u|--user= -h|--hostname= -m|--memory= -c|--cpu-shares= --cpus=
	--name= --entrypoint=exec --platform= --pull= --restart= --rm --init --read-only --tmpfs= --ulimit= --shm-size=
	--stop-signal= --stop-timeout= --sysctl= --add-host= --dns= --dns-search= --dns-option= --domainname= --gpus=
	--group-add= --health-cmd= --health-interval= --health-retries= --health-timeout= --health-start-period= --ip= --ip6=
	--isolation= --link= --log-driver= --log-opt= --mac-address= --memory-swap= --memory-reservation= --memory-swappiness=
	--network-alias= --oom-score-adj= --oom-kill-disable --pids-limit= --publish-all --runtime= --storage-opt=
	--volume-driver= --cidfile=write --blkio-weight= --cpu-period= --cpu-quota= --cpuset-cpus= --cpuset-mems= -a|--attach=
	--interactive --tty --detach --detach-keys= --sig-proxy? --index= --no-deps --service-ports --build --quiet-pull
	--remove-orphans --use-aliases --env-from-file=read`

// dockerObjects are subcommands of docker itself, and of what it keeps.
var dockerObjects = []sub{
	{"run create exec", row{opts: dockerRun, operands: "skip run", tags: "container", then: dockerMounts}},
	{"build bake", row{opts: dockerBuild, operands: "read", tags: "container workspace-code"}},
	{"push", row{tags: "publish container"}},
	{"cp", row{operands: "read* target", tags: "container", then: (*call).transfers}},
}

var dockerSubs = append([]sub{
	{`
		ps logs images inspect version info top stats events history diff port search wait help`, row{opts: "-f|--filter= --format= -n= --since= --until= --tail= --type="}},
	{`
		start stop restart kill rm rmi pause unpause rename update attach commit tag load import pull prune`, row{opts: "-i|--input=read -f|--force -v --time= -t= -s=", tags: "container"}},
	{"save export", row{opts: "-o|--output=write", tags: "container"}},
	{"login logout", row{tags: "config-or-install", opts: "-u= -p= --password-stdin"}},
	{"compose", row{opts: composeOptions, subs: composeSubs}},
	{`
		container image volume network system context manifest builder buildx plugin node stack service swarm secret config
		trust checkpoint scout model sandbox`, row{subs: append([]sub{
		{"ls|list|ps inspect logs top stats port diff history df info events show du version imagetools", row{opts: "-f= --format="}},
		{`
		rm|remove prune start stop restart kill pause unpause connect disconnect use update commit tag load save import export
		pull attach rename deploy init join leave install enable disable set wait annotate up down`, row{tags: "container"}}}, dockerObjects...)}},
}, dockerObjects...)

const dockerBuild = `
	-t|--tag= -f|--file=read --build-arg= --target= --platform= --secret= --ssh= --cache-from= --cache-to=
	-o|--output=write --progress= --network= --add-host= --label= --iidfile=write --metadata-file=write --build-context=
	--builder= --allow=:container-escape --pull --no-cache --push:publish --load --rm --squash -q --security-opt=`

var composeSubs = []sub{
	{"ps logs images top config|convert ls version port events stats volumes help", row{opts: "--environment:dump-env -f --tail= --since= --format= -o|--output=write"}},
	{`
		up start stop restart down kill rm pause unpause pull create scale watch wait attach cp`, row{opts: "-d --build -v|--volumes:discard -t|--timeout= --scale= --profile= --remove-orphans", tags: "container"}},
	{"build", row{tags: "container workspace-code", opts: "--build-arg="}},
	{"run exec", row{opts: dockerRun, operands: "skip run", tags: "container", then: dockerMounts}},
	{"push publish", row{tags: "publish container"}},
}

var kubectlSubs = []sub{
	{"kustomize", row{opts: `
		-o|--output=write --enable-exec:opaque-exec --enable-alpha-plugins:opaque-exec --enable-helm:opaque-exec
		--helm-command=exec --load-restrictor=:opaque-exec -e|--env= --network:opaque-exec --mount=:opaque-exec`, then: kustomization}},
	{"logs", row{opts: "-f|--follow --tail= --since= -p|--previous --output-directory=write"}},
	{"get describe top explain api-resources api-versions cluster-info version events diff wait help completion", row{opts: `
		--client --tail= --since= --raw= --sort-by= -L= --template= --for= --timeout= --previous -p --follow --output-directory=write`}},
	{"config", row{subs: []sub{{"view", row{opts: "--raw:dump-env --flatten:dump-env --minify"}}, {"get-contexts current-context get-clusters get-users", row{}}, {`
		use-context set set-context set-cluster set-credentials unset delete-context delete-cluster delete-user rename-context`, row{tags: "config-or-install"}}}}},
	{"auth", row{subs: []sub{{"can-i whoami", row{}}, {"reconcile", row{tags: "container"}}}}},
	{"rollout", row{subs: []sub{{"status history", row{}}, {"restart undo pause resume", row{tags: "container"}}}}},
	{"create apply delete edit patch replace scale autoscale set label annotate expose taint cordon uncordon drain certificate run debug attach", row{opts: `
		--image= --env= --port= -p= --patch= --patch-file=read --type= --from-file= --from-env-file=read --overrides= --record
		--force --grace-period= --dry-run?`, tags: "container"}},
	{"exec", row{opts: "-i|--stdin -t|--tty -q", operands: "skip run", tags: "container remote"}},
	{"cp", row{operands: "read* target", tags: "container remote", then: (*call).transfers}},
	{"port-forward proxy", row{opts: "--address= --port=", tags: "raw-socket longrun"}},
	{"plugin krew alpha", row{tags: "opaque-exec"}},
}

// dockerMounts looks at what a container gets of the machine.
func dockerMounts(c *call) {
	for _, w := range c.values("-v") {
		c.mount(w, w.Text, strings.HasSuffix(w.Text, ":ro"))
	}
	for _, w := range c.values("--mount") {
		for _, part := range strings.Split(w.Text, ",") {
			if name, source, _ := strings.Cut(part, "="); name == "source" || name == "src" {
				c.mount(w, source, strings.Contains(w.Text, "readonly") || strings.Contains(w.Text, ",ro"))
			}
		}
	}
	if slices.ContainsFunc(c.values("--pid", "--ipc", "--uts", "--userns", "--cgroupns"), func(w Word) bool { return w.Text == "host" }) {
		c.tag("container-escape")
	}
}

// mount is a folder of the machine inside of the container. A name without a slash is a
// volume.
func (c *call) mount(w Word, text string, readonly bool) {
	from, _, _ := strings.Cut(text, ":")
	if from == "/" || strings.HasSuffix(from, "docker.sock") || strings.HasPrefix(from, "/proc") || strings.HasPrefix(from, "/var/run") || strings.HasPrefix(from, "/dev") || from == "/etc" {
		c.tag("container-escape")
	}
	if !strings.ContainsAny(from, "/.~") && !w.Dynamic {
		return
	}
	c.touch("read", rest(w, from), "volume")
	if !readonly {
		c.touch("write", rest(w, from), "volume")
	}
}

// kustomization is a folder, or a URL.
func kustomization(c *call) {
	for _, w := range c.Operands {
		if strings.Contains(w.Text, "://") || strings.Contains(w.Text, ".com/") {
			c.fetch(w, "GIT")
		} else {
			c.touch("read", w, "argument")
		}
	}
}

// kubectlSecrets: the values of secrets are shown, if more than their names is asked for.
func kubectlSecrets(c *call) {
	form, formatted := c.value("-o")
	if name, ok := c.value("--template"); ok && strings.HasSuffix(form.Text, "-file") {
		c.touch("read", name, "--template")
	}
	if kind, name, ok := strings.Cut(form.Text, "="); ok && strings.HasSuffix(kind, "-file") {
		c.touch("read", rest(form, name), "-o")
	}
	raw := c.values("--raw")
	if c.Sub != "get" || !formatted && len(raw) == 0 && !c.has("--template") || form.Text == "wide" || form.Text == "name" {
		return
	}
	if slices.ContainsFunc(slices.Concat(c.Operands, raw), func(w Word) bool { return strings.Contains(strings.ToLower(w.Text), "secret") }) {
		c.tag("dump-env")
	}
}
