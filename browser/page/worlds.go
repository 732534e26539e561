package page

import (
	"context"
	"sync"

	"github.com/krometrail/krometrail/browser/cdp"
)

// WorldName names the isolated worlds of this program; scripts of the page cannot see into them.
const WorldName = "krometrail"

// worlds follows the script worlds of the session's frames.
type worlds struct {
	mu       sync.Mutex
	main     map[string]int64 // by frame
	isolated map[string]int64 // by frame
}

func newWorlds() *worlds {
	return &worlds{main: map[string]int64{}, isolated: map[string]int64{}}
}

func (w *worlds) forgetFrame(frame string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.isolated, frame)
}

func (s *Session) onWorld(e cdp.Event) {
	w := s.worlds
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Method {
	case "Runtime.executionContextsCleared":
		clear(w.main)
		clear(w.isolated)
	case "Runtime.executionContextDestroyed":
		var p struct {
			ID int64 `json:"executionContextId"`
		}
		if e.Decode(&p) == nil {
			drop(w.main, p.ID)
			drop(w.isolated, p.ID)
		}
	case "Runtime.executionContextCreated":
		w.created(e)
	}
}

func (w *worlds) created(e cdp.Event) {
	var p struct {
		Context struct {
			ID   int64  `json:"id"`
			Name string `json:"name"`
			Aux  struct {
				Default bool   `json:"isDefault"`
				Frame   string `json:"frameId"`
			} `json:"auxData"`
		} `json:"context"`
	}
	if e.Decode(&p) != nil || p.Context.Aux.Frame == "" {
		return
	}
	switch {
	case p.Context.Aux.Default:
		w.main[p.Context.Aux.Frame] = p.Context.ID
	case p.Context.Name == WorldName:
		w.isolated[p.Context.Aux.Frame] = p.Context.ID
	}
}

func drop(m map[string]int64, gone int64) {
	for frame, context := range m {
		if context == gone {
			delete(m, frame)
		}
	}
}

func (w *worlds) get(m map[string]int64, frame string) (int64, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	context, ok := m[frame]
	return context, ok
}

// MainWorld returns the execution context of the page's own scripts in a frame of this session; frame ""
// is its root frame. ok is false while the frame has none, for example during a navigation.
func (s *Session) MainWorld(frame string) (executionContext int64, ok bool) {
	return s.worlds.get(s.worlds.main, s.frameOr(frame))
}

// World returns the execution context of this program's isolated world in the frame's present document
// and makes it when there is none yet. It becomes invalid when the document is replaced.
func (s *Session) World(ctx context.Context, frame string) (executionContext int64, err error) {
	frame = s.frameOr(frame)
	if known, ok := s.worlds.get(s.worlds.isolated, frame); ok {
		return known, nil
	}
	var made struct {
		ID int64 `json:"executionContextId"`
	}
	err = s.Send(ctx, "Page.createIsolatedWorld", map[string]any{
		"frameId": frame, "worldName": WorldName, "grantUniveralAccess": false,
	}, &made)
	return made.ID, err
}

func (s *Session) frameOr(frame string) string {
	if frame == "" {
		return s.MainFrame()
	}
	return frame
}
