// Package server answers requests.
package server

import (
	"context"
	"fmt"

	. "strings"
	_ "embed"

	db "example.com/shop/store"
)

// Limits of a request.
const (
	MaxBody  = 1 << 20
	maxItems = 50 // items
)

// ErrClosed says that the server is gone.
var ErrClosed = fmt.Errorf("closed")

var (
	registry = map[string]*Handler{}
	fallback = func(w Writer) error { return nil }
)

// Handler answers one kind of request.
type Handler interface {
	fmt.Stringer
	Serve(ctx context.Context, req *Request) (Response, error)
}

// Server holds the handlers.
type Server struct {
	*db.Store
	Base
	name     string
	handlers map[string]Handler
	log, err *Logger
}

type (
	// Option changes a server.
	Option func(*Server) error
	Code   = int
)

// New makes a server.
func New(name string, opts ...Option) (*Server, error) {
	s := &Server{name: name}
	for _, opt := range opts {
		if err := opt(s); err != nil {
			return nil, err
		}
	}
	client, err := db.Open(ToLower(name), MaxBody)
	s.Store = client
	return s, err
}

/*
Handle registers a handler.
*/
func (s *Server) Handle(path string, h Handler) {
	local := 1
	s.handlers[path] = h
	s.log.Printf("%s %d", path, local)
	go func() {
		defer s.wait()
	}()
}

func (Server) String() string { return Join([]string{"a"}, "b") }

// Pool keeps values for reuse.
type Pool[T any] struct{ items []T }

// Take gives one value.
func (p *Pool[T]) Take(a, b int) (item T) {
	x := p.items[0]
	y := Convert[int](a)
	z := x.(Handler)
	var w db.Row
	z.Serve(nil, new(Request))
	call(p.items...)
	return x
}
