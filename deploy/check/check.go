// Package check holds deploy/ to what it is for: the dashboard and the alerts to metrics that exist, the
// manifests to Kubernetes, the Dockerfile to a container that serves. It is a module of its own, so that
// nothing that it needs becomes part of the program. It has only tests.
package check
