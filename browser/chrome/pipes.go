package chrome

import "os"

// pipes are the two one-way channels of the debugging pipe; Chrome reads file descriptor 3 and writes 4.
type pipes struct {
	childIn, ourOut *os.File
	ourIn, childOut *os.File
}

func newPipes() (*pipes, error) {
	p := &pipes{}
	var err error
	if p.childIn, p.ourOut, err = os.Pipe(); err != nil {
		return nil, err
	}
	if p.ourIn, p.childOut, err = os.Pipe(); err != nil {
		_ = p.childIn.Close()
		_ = p.ourOut.Close()
		return nil, err
	}
	widen(p.ourOut, p.ourIn)
	return p, nil
}

func (p *pipes) closeChild() {
	_ = p.childIn.Close()
	_ = p.childOut.Close()
}

func (p *pipes) closeOurs() {
	_ = p.ourIn.Close()
	_ = p.ourOut.Close()
}
