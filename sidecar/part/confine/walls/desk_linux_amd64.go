package walls

import (
	"cmp"

	"golang.org/x/sys/unix"
)

// addOld adds who answers the calls that newer machines do without.
func addOld(d map[int]func(*caller) verdict) {
	d[unix.SYS_CHMOD] = func(c *caller) verdict { at, err := c.path(0); return c.chmod(at, err, c.args[1]) }
	d[unix.SYS_CHOWN] = func(c *caller) verdict {
		at, err := c.path(0)
		return c.chown(at, err, c.args[1], c.args[2])
	}
	d[unix.SYS_LCHOWN] = func(c *caller) verdict {
		at, err := c.path(itself)
		return c.chown(at, err, c.args[1], c.args[2])
	}
	d[unix.SYS_UTIME] = func(c *caller) verdict {
		times, err := c.times(c.args[1], 2)
		if times != nil {
			times = []int64{times[0], 0, times[1], 0}
		}
		at, wrong := c.path(0)
		return c.utime(at, cmp.Or(err, wrong), times)
	}
	d[unix.SYS_UTIMES] = func(c *caller) verdict {
		times, err := c.micro(c.args[1])
		at, wrong := c.path(0)
		return c.utime(at, cmp.Or(err, wrong), times)
	}
	d[unix.SYS_FUTIMESAT] = func(c *caller) verdict {
		times, err := c.micro(c.args[2])
		at, wrong := c.at(0)
		return c.utime(at, cmp.Or(err, wrong), times)
	}
}

// micro are times whose fractions are millionths.
func (c *caller) micro(from uint64) ([]int64, error) {
	times, err := c.times(from, 4)
	if times != nil {
		times[1] *= 1000
		times[3] *= 1000
	}
	return times, err
}
