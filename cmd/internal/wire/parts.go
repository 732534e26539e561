package wire

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"go.uber.org/fx"

	"github.com/krometrail/krometrail/browser/input"
	"github.com/krometrail/krometrail/browser/observe"
	"github.com/krometrail/krometrail/browser/session"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/browser/transfer"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/storage/instance"
)

// downloadFolder lies in the instance root, so that what a killed process leaves is reclaimed with its root.
// It is outside the disk budget.
const downloadFolder = "downloads"

func newDownloads(in *instance.Instance, log *slog.Logger) *transfer.Downloads {
	return transfer.NewDownloads(filepath.Join(in.Root(), downloadFolder), log)
}

func newTransfers(b *session.Browser, s *snapshot.Registry, d *transfer.Downloads) *transfer.Transfers {
	return transfer.New(b, s, d)
}

// moves are the views of the transfers that others ask for.
type moves struct {
	fx.Out
	Transfers control.Transfers
	Reader    downloadReader
	Driver    control.Driver
}

func newMoves(t *transfer.Transfers, b *session.Browser, s *snapshot.Registry, o *observe.Observer) moves {
	return moves{Transfers: reads{t}, Reader: downloadFiles{t}, Driver: input.NewDriver(input.Deps{
		Pages: b, Tabs: b, Downloads: t, Transfers: t, Snapshots: s, Observer: o,
	})}
}

// downloadFiles reads completed downloads.
type downloadFiles struct{ transfers *transfer.Transfers }

// ReadDownload implements downloadReader.
func (d downloadFiles) ReadDownload(_ context.Context, s id.Session, name id.Download) ([]byte, string, error) {
	row, err := d.transfers.File(s, name)
	if err != nil {
		return nil, "", err
	}
	data, err := os.ReadFile(row.Path)
	if err != nil {
		return nil, "", fault.New(fault.NotFound, "the downloaded file is gone").Because(err)
	}
	return data, row.MediaType, nil
}

// reads names what is read of transfers; the list of downloads has the same name as their keeper.
type reads struct{ *transfer.Transfers }

// Downloads implements control.Transfers.
func (r reads) Downloads(ctx context.Context) (page.ListDownloadsResult, error) {
	return r.Transfers.Downloads.Downloads(ctx)
}
