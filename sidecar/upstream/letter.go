package upstream

import (
	"io"
	"sync"
)

// letter is the body of a request on its way. The transport keeps the request until its answer has ended, so
// the letter lets go of the bytes once they were sent and an answer has begun: it may have 100 KB, and last
// for minutes.
type letter struct {
	mu       sync.Mutex
	body     []byte
	open     int  // pages that are being sent
	answered bool // it is not sent again
}

// page is the letter while it is sent once. The transport closes it when that is done, also while it reads.
type page struct {
	letter *letter
	rest   []byte
	closed bool
}

// send gives the letter to be sent, from its start.
func (l *letter) send() (io.Reader, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.body == nil {
		return nil, io.ErrClosedPipe // an answer has begun
	}
	l.open++
	return &page{letter: l, rest: l.body}, nil
}

// arrived says that an answer has begun.
func (l *letter) arrived() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answered = true
	l.drop()
}

func (l *letter) drop() {
	if l.answered && l.open == 0 {
		l.body = nil
	}
}

// Len is how much of the page is left. The client asks for it once, before it sends.
func (p *page) Len() int { return len(p.rest) }

func (p *page) Read(b []byte) (int, error) {
	p.letter.mu.Lock()
	defer p.letter.mu.Unlock()
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *page) Close() error {
	p.letter.mu.Lock()
	defer p.letter.mu.Unlock()
	if !p.closed {
		p.closed, p.rest = true, nil
		p.letter.open--
		p.letter.drop()
	}
	return nil
}
