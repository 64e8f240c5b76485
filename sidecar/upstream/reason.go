package upstream

import (
	"errors"
	"net"
	"syscall"
)

// Reason is why a server cannot be reached, in the words of the system, without addresses.
func Reason(err error) string {
	var name *net.DNSError
	var cause syscall.Errno
	var slow net.Error
	switch {
	case errors.As(err, &name):
		return name.Err
	case errors.As(err, &cause):
		return cause.Error()
	case errors.As(err, &slow) && slow.Timeout():
		return "no answer in time"
	}
	return shown(withoutURL(err).Error())
}
