package infer_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"rookery/infer"
	"rookery/infer/scripted"
)

// Everything a user interface may do at any moment, from many goroutines.
func TestManyCallersAtOnce(t *testing.T) {
	e := start(t, scripted.Options{Slots: 5, MaxTokens: 40}, infer.Options{})
	var callers sync.WaitGroup
	quit := make(chan struct{})
	watcher := make(chan struct{})
	go func() {
		defer close(watcher)
		for {
			select {
			case <-quit:
				return
			default:
				if s := e.Stats(); s.Rows > 5 || len(s.Requests) > 5 {
					t.Errorf("%d rows, %d requests on 5 slots", s.Rows, len(s.Requests))
				}
			}
		}
	}()
	for c := range 6 {
		callers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 11))
			var from *infer.Snapshot
			for range 25 {
				s, err := e.Submit(infer.Request{
					From: from, Tokens: numbers(c, 1+r.IntN(60)), Sampling: lively(r.Uint64()),
					MaxTokens: 1 + r.IntN(30), Stops: holding, Top: r.IntN(3),
				})
				if err != nil {
					t.Error(err)
					return
				}
				cancel := r.IntN(20)
				for running := true; running; cancel-- {
					select {
					case <-s.Changed():
					case <-s.Done():
						running = false
					}
					s.Read()
					s.SetSampling(lively(1))
					if cancel == 0 {
						s.Cancel()
					}
				}
				end := s.Ending()
				if end.Err != nil || end.Snapshot == nil {
					t.Errorf("ended with %v, %v", end.Reason, end.Err)
					return
				}
				from = end.Snapshot
			}
		})
	}
	callers.Wait()
	close(quit)
	<-watcher
	if s := e.Stats(); s.Rows != 0 || s.Waiting != 0 {
		t.Errorf("when all is over: %+v", s)
	}
}
