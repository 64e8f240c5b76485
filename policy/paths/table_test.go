package paths

import "slices"

// The effects of the developer profile, as rules/paths.yaml has them: for commands, for
// file tools that read, for writes and deletes.
var developer = map[string][4]string{
	//               read, by a tool, write, delete
	Workspace:       {"allow", "allow", "allow", "allow"},
	WorkspaceRoot:   {"allow", "allow", "allow", "deny"},
	WorkspaceSecret: {"ask", "ask", "allow", "ask"},
	Automation:      {"", "", "ask", "ask"},
	Readable:        {"allow", "allow", "deny", "deny"},
	VCS:             {"", "", "ask", "deny"},
	Persist:         {"", "", "deny", "deny"},
	Secret:          {"deny", "deny", "deny", "deny"},
	Control:         {"ask", "deny", "deny", "deny"},
	Home:            {"ask", "deny", "deny", "deny"},
	Root:            {"ask", "deny", "deny", "deny"},
	Protected:       {"ask", "deny", "deny", "deny"},
	System:          {"ask", "deny", "deny", "deny"},
	Kernel:          {"ask", "deny", "deny", "deny"},
	Device:          {"ask", "deny", "deny", "deny"},
	Outside:         {"ask", "deny", "deny", "deny"},
	BlockDevice:     {"deny", "deny", "deny", "deny"},
	Socket:          {"deny", "deny", "deny", "deny"},
	Malformed:       {"deny", "deny", "deny", "deny"},
	Null:            {"allow", "allow", "allow", "deny"},
	Dynamic:         {"ask", "ask", "ask", "ask"},
}

func effect(u Use) string {
	column := map[string]int{"read": 0, "write": 2, "delete": 3}[u.Op]
	if u.Op == "read" && u.Via == ViaTool {
		column = 1
	}
	e := developer[u.Class][column]
	switch {
	case u.Class == WorkspaceRoot && u.Op == "write" && u.Via == ViaTool:
		return "deny"
	case e == "allow" && (u.Dynamic || len(u.Marks) > 0):
		return "ask"
	}
	return e
}

func allowed(u Use) bool { return effect(u) == "allow" }

var roots = Roots{
	Cwd: "/srv/project", Home: "/home/agent", Write: []string{"/srv/project", "/tmp"},
	Read:      []string{"/usr", "/bin", "/sbin", "/lib"},
	ReadFiles: []string{"/etc/hosts"}, Own: []string{"/home/agent/.openclaw", "/srv/project/rules"},
}

func contains(marks []string, m string) bool { return m == "" || slices.Contains(marks, m) }
