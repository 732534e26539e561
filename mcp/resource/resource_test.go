package resource

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

func TestCanonicalURIs(t *testing.T) {
	session, target := id.New[id.Session](), id.New[id.Target]()
	for collection, name := range map[string]string{
		evidence.Artifacts: string(id.New[id.Artifact]()), evidence.Manifests: string(id.New[id.Artifact]()),
		evidence.Videos: string(id.New[id.Artifact]()), evidence.FramesPath: string(id.New[id.Frame]()),
		evidence.Observations: string(id.New[id.Observation]()),
	} {
		ref, err := Parse(evidence.EvidenceURI(session, target, collection, name))
		require.NoError(t, err)
		assert.Equal(t, Ref{Session: session, Target: target, Collection: collection, Name: name}, ref)
	}
	download := id.New[id.Download]()
	ref, err := Parse(evidence.DownloadURI(session, download))
	require.NoError(t, err)
	assert.Equal(t, Ref{Session: session, Collection: Downloads, Name: string(download)}, ref)
}

func TestEveryOtherSpellingIsUnknown(t *testing.T) {
	good := evidence.EvidenceURI("ses_0123456789ab", "tgt_0123456789ab", evidence.FramesPath, "frm_0123456789ab")
	_, err := Parse(good)
	require.NoError(t, err)
	for _, bad := range []string{
		"", "krometrail://", good + "/", good + "?a", good + "#a", " " + good, strings.ToUpper(good), strings.Replace(good, "frames", "artifacts", 1),
		strings.Replace(good, "frames", "Frames", 1), strings.Replace(good, "ses_", "%73es_", 1), strings.Replace(good, "//evidence", "//evidence/", 1),
		strings.Replace(good, "evidence", "local", 1), strings.Replace(good, "frames", "../frames", 1), strings.Replace(good, "krometrail:", "file:", 1),
		"krometrail://local/ses_0123456789ab/downloads/art_0123456789ab", "krometrail://local/ses_0123456789ab/files/dl_0123456789ab",
	} {
		_, err := Parse(bad)
		assert.Equal(t, fault.NotFound, fault.CodeOf(err), bad)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("krometrail://evidence/ses_0123456789ab/tgt_0123456789ab/frames/frm_0123456789ab")
	f.Add("krometrail://local/ses_0123456789ab/downloads/dl_0123456789ab")
	f.Fuzz(func(t *testing.T, uri string) {
		ref, err := Parse(uri)
		if err != nil {
			return
		}
		spelt := evidence.EvidenceURI(ref.Session, ref.Target, ref.Collection, ref.Name)
		if ref.Collection == Downloads {
			spelt = evidence.DownloadURI(ref.Session, id.Download(ref.Name))
		}
		require.Equal(t, uri, spelt)
	})
}
