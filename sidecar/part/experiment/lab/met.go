package lab

import (
	"encoding/binary"
	"strconv"
)

// maxMet is how many units of a trial are known to have been counted, beside those whose figures are
// remembered: 8 bytes each.
const maxMet = 200_000

// met are the hashes of units that were counted.
type met map[uint64]struct{}

func hashOf(key string) uint64 {
	h, _ := strconv.ParseUint(key, 16, 64)
	return h
}

// meet notes a unit that is to be counted, and reports whether it is another one than all before. Behind
// maxMet that is unknown, and Repeats says so.
func (t *trial) meet(key string) bool {
	h := hashOf(key)
	if _, known := t.met[h]; known {
		return false
	}
	if len(t.met) >= maxMet {
		t.Repeats = true
		return true
	}
	t.met[h] = struct{}{}
	return true
}

// packed are the hashes as a file keeps them.
func (m met) packed() []byte {
	out := make([]byte, 0, 8*len(m))
	for h := range m {
		out = binary.BigEndian.AppendUint64(out, h)
	}
	return out
}

// metOf are those of a file. One of an earlier version has the units alone.
func metOf(s *Saved) met {
	out := make(met, len(s.Met)/8+len(s.Units))
	for doc := s.Met; len(doc) >= 8; doc = doc[8:] {
		out[binary.BigEndian.Uint64(doc)] = struct{}{}
	}
	for _, u := range s.Units {
		out[hashOf(u.Key)] = struct{}{}
	}
	return out
}
