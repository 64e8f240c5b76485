package service

import (
	"path/filepath"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment/capture"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment/lab"
)

// openLab opens where experiments are counted: in the state folder, where there is one.
func (r *running) openLab() (*lab.Lab, error) {
	path, store, open := "", (*capture.Store)(nil), capture.Open
	var before <-chan struct{}
	if r.Given.Before() {
		open, before = capture.OpenAfter, r.Given.Gone()
	}
	if r.Settings.State != "" {
		var err error
		if store, err = open(filepath.Join(r.Settings.State, capture.Folder), r.Log, time.Now); err != nil {
			return nil, err
		}
		path = filepath.Join(r.Settings.State, lab.FileName)
	}
	r.Metrics.Captured(func() float64 { return float64(store.Stats().Written) },
		func() float64 { return float64(store.Stats().Dropped) })
	var others lab.PeerCounts
	if r.shared != nil {
		others = r.shared.Counts()
	}
	return lab.Open(lab.Config{Path: path, Store: store, Now: r.now, Metrics: r.Metrics, Log: r.Log,
		Peers: others, Before: before})
}
