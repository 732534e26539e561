package ffmpeg

import (
	"encoding/binary"
	"io"
	"time"
)

// Matroska element ids, as they stand in the stream.
const (
	idEBML           = 0x1A45DFA3
	idDocType        = 0x4282
	idDocVersion     = 0x4287
	idDocReadVersion = 0x4285
	idSegment        = 0x18538067
	idInfo           = 0x1549A966
	idTimestampScale = 0x2AD7B1
	idMuxingApp      = 0x4D80
	idWritingApp     = 0x5741
	idTracks         = 0x1654AE6B
	idTrackEntry     = 0xAE
	idTrackNumber    = 0xD7
	idTrackUID       = 0x73C5
	idTrackType      = 0x83
	idFlagLacing     = 0x9C
	idCodecID        = 0x86
	idVideo          = 0xE0
	idDefaultTime    = 0x23E383
	idPixelWidth     = 0xB0
	idPixelHeight    = 0xBA
	idColourSpace    = 0x2EB524
	idColour         = 0x55B0
	idMatrix         = 0x55B1
	idRange          = 0x55B9
	idTransfer       = 0x55BA
	idPrimaries      = 0x55BB
	idCluster        = 0x1F43B675
	idTimestamp      = 0xE7
	idBlockGroup     = 0xA0
	idBlock          = 0xA1
	idBlockDuration  = 0x9B
)

// tick is the unit of every time in the stream and in the clip.
const tick = time.Microsecond

// usualSample is the duration of a picture that the stream announces, in ticks: 1/60 s.
const usualSample = 16667

// maxClosing bounds how long a closing sample may last.
const maxClosing = 100_000

// matroska writes uncompressed pictures with exact times to a pipe. Raw video alone carries no times, and a list of
// files would leave pictures on the disk; Matroska needs a few dozen bytes around each picture.
//
//	EBML header | Segment (unknown size) | Info | Tracks | Cluster*
//	Cluster: Timestamp, BlockGroup { Block: track 1, relative time 0, I420 planes; BlockDuration }
//
// All sizes take eight bytes, and a picture is never copied.
type matroska struct{ w io.Writer }

// begin writes everything before the first picture. Pictures are I420 in BT.709, limited range.
func (m matroska) begin(width, height int) error {
	colour := element(idColour, number(idMatrix, 1), number(idRange, 1), number(idTransfer, 1), number(idPrimaries, 1))
	video := element(idVideo, number(idPixelWidth, uint64(width)), number(idPixelHeight, uint64(height)),
		text(idColourSpace, "I420"), colour)
	entry := element(idTrackEntry, number(idTrackNumber, 1), number(idTrackUID, 1), number(idTrackType, 1),
		number(idFlagLacing, 0), number(idDefaultTime, uint64(usualSample)*uint64(tick)), text(idCodecID, "V_UNCOMPRESSED"), video)
	head := element(idEBML, text(idDocType, "matroska"), number(idDocVersion, 4), number(idDocReadVersion, 2))
	head = append(appendID(head, idSegment), 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF)
	head = append(head, element(idInfo, number(idTimestampScale, uint64(tick)), text(idMuxingApp, "krometrail"),
		text(idWritingApp, "krometrail"))...)
	head = append(head, element(idTracks, entry)...)
	_, err := m.w.Write(head)
	return err
}

// picture writes one picture that is presented from at for the given time, both in ticks.
func (m matroska) picture(at, duration int64, planes []byte) error {
	block := []byte{0x81, 0, 0, 0}
	last := number(idBlockDuration, uint64(duration))
	group := appendSize(appendID(nil, idBlock), len(block)+len(planes))
	group = append(group, block...)
	groupHead := appendSize(appendID(nil, idBlockGroup), len(group)+len(planes)+len(last))
	stamp := number(idTimestamp, uint64(at))
	head := appendSize(appendID(nil, idCluster), len(stamp)+len(groupHead)+len(group)+len(planes)+len(last))
	head = append(append(append(head, stamp...), groupHead...), group...)
	for _, part := range [][]byte{head, planes, last} {
		if _, err := m.w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// element returns an element with the given children.
func element(id uint32, children ...[]byte) []byte {
	size := 0
	for _, c := range children {
		size += len(c)
	}
	out := appendSize(appendID(nil, id), size)
	for _, c := range children {
		out = append(out, c...)
	}
	return out
}

func number(id uint32, v uint64) []byte {
	return binary.BigEndian.AppendUint64(appendSize(appendID(nil, id), 8), v)
}

func text(id uint32, s string) []byte { return append(appendSize(appendID(nil, id), len(s)), s...) }

// appendID appends an id, whose leading bits say its length already.
func appendID(b []byte, id uint32) []byte {
	for shift := 24; shift >= 0; shift -= 8 {
		if v := id >> shift; v != 0 {
			b = append(b, byte(v))
		}
	}
	return b
}

// appendSize appends a size in the eight byte form.
func appendSize(b []byte, size int) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(size)|1<<56)
}
