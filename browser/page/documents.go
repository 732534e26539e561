package page

import (
	"sync"

	"github.com/krometrail/krometrail/browser/cdp"
)

// Document is what is loaded in a frame.
type Document struct {
	// Frame is the browser's frame id, Loader its document id. Loader is "" until the browser has told it.
	Frame, Loader string
	// URL is the live address with its fragment. It is never stored.
	URL string
}

type frameInfo struct {
	ID       string `json:"id"`
	ParentID string `json:"parentId"`
	LoaderID string `json:"loaderId"`
	URL      string `json:"url"`
	Fragment string `json:"urlFragment"`
}

type frameTree struct {
	Frame    frameInfo   `json:"frame"`
	Children []frameTree `json:"childFrames"`
}

// documents follows which document each frame of the session shows.
type documents struct {
	mu     sync.Mutex
	main   string
	frames map[string]Document
}

func newDocuments(main string) *documents {
	return &documents{main: main, frames: map[string]Document{}}
}

func (d *documents) set(f frameInfo, root bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if root {
		d.main = f.ID
	}
	d.frames[f.ID] = Document{Frame: f.ID, Loader: f.LoaderID, URL: f.URL + f.Fragment}
}

func (d *documents) get(frame string) (Document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if frame == "" {
		frame = d.main
	}
	doc, ok := d.frames[frame]
	return doc, ok
}

// MainFrame is the id of this session's root frame.
func (s *Session) MainFrame() string {
	s.docs.mu.Lock()
	defer s.docs.mu.Unlock()
	return s.docs.main
}

// Document returns the present document of a frame that this session serves; frame "" is its root frame.
// ok is false while the browser has not told it.
func (s *Session) Document(frame string) (doc Document, ok bool) { return s.docs.get(frame) }

func (s *Session) onFrameTree(result []byte, err error) {
	var tree struct {
		FrameTree frameTree `json:"frameTree"`
	}
	if err != nil || cdp.Unmarshal(result, &tree) != nil || tree.FrameTree.Frame.ID == "" {
		return
	}
	s.adopt(tree.FrameTree, true)
	if s.parent == nil {
		s.navFound(tree.FrameTree.Frame)
	}
}

func (s *Session) adopt(tree frameTree, root bool) {
	s.docs.set(tree.Frame, root)
	for _, child := range tree.Children {
		s.adopt(child, false)
	}
}

func (s *Session) onDocument(e cdp.Event) {
	switch e.Method {
	case "Page.frameNavigated":
		var p struct {
			Frame frameInfo `json:"frame"`
		}
		if e.Decode(&p) == nil && p.Frame.ID != "" {
			s.worlds.forgetFrame(p.Frame.ID)
			s.docs.set(p.Frame, p.Frame.ParentID == "" || p.Frame.ID == s.cdp)
		}
	case "Page.navigatedWithinDocument":
		var p struct {
			Frame string `json:"frameId"`
			URL   string `json:"url"`
		}
		if e.Decode(&p) == nil {
			s.docs.moved(p.Frame, p.URL)
		}
	case "Page.frameDetached":
		var p struct {
			Frame string `json:"frameId"`
		}
		if e.Decode(&p) == nil {
			s.docs.remove(p.Frame)
			s.worlds.forgetFrame(p.Frame)
		}
	}
}

func (d *documents) moved(frame, url string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc, ok := d.frames[frame]; ok {
		doc.URL = url
		d.frames[frame] = doc
	}
}

func (d *documents) remove(frame string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.frames, frame)
}
