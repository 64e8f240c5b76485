package walls

import (
	"cmp"

	"golang.org/x/sys/unix"
)

// addLegacyHandlers adds the calls that newer architectures lack.
func addLegacyHandlers(d map[int]func(*caller) callResult) {
	d[unix.SYS_CHMOD] = func(c *caller) callResult {
		at, err := c.fileByName(0)
		return c.chmod(at, err, c.args[1])
	}
	d[unix.SYS_CHOWN] = func(c *caller) callResult {
		at, err := c.fileByName(0)
		return c.chown(at, err, c.args[1], c.args[2])
	}
	d[unix.SYS_LCHOWN] = func(c *caller) callResult {
		at, err := c.fileByName(noFollow)
		return c.chown(at, err, c.args[1], c.args[2])
	}
	d[unix.SYS_UTIME] = func(c *caller) callResult {
		times, err := c.readTimes(c.args[1], 2)
		if times != nil {
			times = []int64{times[0], 0, times[1], 0}
		}
		at, wrong := c.fileByName(0)
		return c.utime(at, cmp.Or(err, wrong), times)
	}
	d[unix.SYS_UTIMES] = func(c *caller) callResult {
		times, err := c.microTimes(c.args[1])
		at, wrong := c.fileByName(0)
		return c.utime(at, cmp.Or(err, wrong), times)
	}
	d[unix.SYS_FUTIMESAT] = func(c *caller) callResult {
		times, err := c.microTimes(c.args[2])
		at, wrong := c.fileAt(0)
		return c.utime(at, cmp.Or(err, wrong), times)
	}
}

// microTimes reads times in seconds and microseconds.
func (c *caller) microTimes(from uint64) ([]int64, error) {
	times, err := c.readTimes(from, 4)
	if times != nil {
		times[1] *= 1000
		times[3] *= 1000
	}
	return times, err
}
