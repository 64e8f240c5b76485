//go:build !linux

package main

import "log"

func main() { log.Fatal("the measurement reads /proc and pins processes to CPUs: it needs Linux") }
