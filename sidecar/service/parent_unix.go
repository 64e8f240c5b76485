//go:build unix

package service

import "os"

// Parent is the process that started this one. Its zero value is none.
type Parent struct {
	// chain are pids: of the parent; where that only stands between, of its parent, and so on. Each
	// link holds as long as the process before it has it as its parent, so that no pid that was
	// given anew is taken for the old one.
	chain []int
}

// Find finds the process that started this one. It must be asked early: of a parent that has gone
// before, nothing is known. Shells with something to do, and npm, stand between and are seen through,
// where a process can be looked at.
func Find() Parent {
	var p Parent
	for pid := os.Getppid(); pid > 1; {
		p.chain = append(p.chain, pid)
		next, between := behind(pid)
		if !between {
			break
		}
		pid = next
	}
	return p
}

// Known reports whether there is a process that can go. Process 1 goes with all others, and takes in
// those whose parent has gone; 0 is outside of a container.
func (p Parent) Known() bool { return len(p.chain) > 0 }

// ID is the pid of the outermost process whose end is waited for.
func (p Parent) ID() int {
	if !p.Known() {
		return os.Getppid()
	}
	return p.chain[len(p.chain)-1]
}

func (p Parent) lives() bool {
	for i, pid := range p.chain {
		now := os.Getppid()
		if i > 0 {
			now = parentOf(p.chain[i-1])
		}
		if now != pid {
			return false
		}
	}
	return true
}
