package state

import (
	"testing"
	"time"
)

func TestWrapped(t *testing.T) {
	now := time.Unix(1, 0)
	for text, want := range map[string]Fate{
		"total 4\na.txt": Ran,
		"(no output)":    Ran,
		"/bin/bash: line 1: /usr/local/bin/gpt-oss-executor: No such file or directory\n\n(Command exited with code 127)":                   NotRun,
		"sh: 1: /usr/local/bin/gpt-oss-executor: not found\n\n(Command exited with code 127)":                                               NotRun,
		"bash: /opt/gpt-oss-executor: Permission denied\n\n(Command exited with code 126)":                                                  NotRun,
		"/bin/bash: line 3: /opt/gpt-oss-executor: No such file or directory\n\nCommand not found":                                          NotRun,
		"/bin/bash: line 3: /opt/gpt-oss-executor: Permission denied\n\nCommand not executable (permission denied)":                         NotRun,
		"/bin/bash: line 3: foo: command not found\n\nCommand not found":                                                                    Ran,
		"gpt-oss-executor confine: there is no ticket /x/y: the gateway runs on another machine\n\n(Command exited with code 125)":          NotRun,
		"gpt-oss-executor confine: this machine cannot confine: Landlock is missing (kernel 5.13 has it)\n\n(Command exited with code 125)": NotRun,
		"bash: line 1: /home/sam/x: Permission denied\n\n(Command exited with code 1)":                                                      Held,
		"npm error code EACCES\n\n(Command exited with code 243)":                                                                           Held,
		"cat: gpt-oss-executor: No such file or directory\n\n(Command exited with code 1)":                                                  Ran,
		"an article that says: Permission denied":                                                                                           Ran,
		"bash: line 1: foo: command not found\n\n(Command exited with code 127)":                                                            Ran,
	} {
		w := NewWrapped()
		w.Add("a", "main telegram")
		by, fate := w.Result("a", text, now)
		if by != "main telegram" || fate != want {
			t.Errorf("%q: %s %d", text, by, fate)
		}
		if here := w.CanConfine("main telegram", now.Add(time.Hour)); here != (want != NotRun) {
			t.Errorf("%q: here %v", text, here)
		}
		if !w.CanConfine("main telegram", now.Add(unconfinedTime)) || !w.CanConfine("other telegram", now) {
			t.Errorf("%q: nobody finds out again, or another agent is not believed", text)
		}
		if _, fate := w.Result("a", text, now); fate != unknown {
			t.Errorf("%q counts twice", text)
		}
	}
	if _, fate := NewWrapped().Result("b", "(no output)", now); fate != unknown {
		t.Error("a call that did not leave confined has a fate")
	}
}
