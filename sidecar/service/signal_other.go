//go:build !unix

package service

import (
	"errors"
	"net"
	"os"
)

// Signals are none here: no process takes over open sockets.
func Signals() (wanted <-chan os.Signal, stop func()) { return nil, func() {} }

func keepToItself(int) {}

// Socket is none here.
func Socket(string, net.Listener) (PassedFile, error) {
	return PassedFile{}, errors.New("on this system no process takes over open sockets")
}
