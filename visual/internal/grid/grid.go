// Package grid reduces frames to small signatures of block means, laid out so
// that comparing two of them costs a few machine words per tile.
package grid

// A tile is 16x16 image pixels and takes TileBytes of a signature: 16 luma
// cells (4x4 pixels each, raster order), then 4 Cb and 4 Cr cells (8x8 pixels).
const (
	TileSize  = 16
	CellSize  = 4
	TileBytes = 24
	// CellsPerTile counts luma cells, the unit every area is measured in.
	CellsPerTile = 16
)

// Geometry is the tiling of one image size.
type Geometry struct {
	Width, Height  int // image pixels
	TilesX, TilesY int
}

// For returns the tiling that covers a width x height image.
func For(width, height int) Geometry {
	return Geometry{
		Width: width, Height: height,
		TilesX: (width + TileSize - 1) / TileSize,
		TilesY: (height + TileSize - 1) / TileSize,
	}
}

// Tiles is the number of tiles.
func (g Geometry) Tiles() int { return g.TilesX * g.TilesY }

// Bytes is the size of one signature.
func (g Geometry) Bytes() int { return g.Tiles() * TileBytes }

// CellsX and CellsY count luma cells including those padded beyond the image.
func (g Geometry) CellsX() int { return g.TilesX * 4 }

// CellsY is the vertical counterpart of CellsX.
func (g Geometry) CellsY() int { return g.TilesY * 4 }

// InsideX and InsideY count the luma cells that touch the image.
func (g Geometry) InsideX() int { return (g.Width + CellSize - 1) / CellSize }

// InsideY is the vertical counterpart of InsideX.
func (g Geometry) InsideY() int { return (g.Height + CellSize - 1) / CellSize }

// Luma returns the offset in a signature of the luma cell at column cx, row cy.
func (g Geometry) Luma(cx, cy int) int {
	return (cy>>2*g.TilesX+cx>>2)*TileBytes + cy&3<<2 + cx&3
}

// Chroma returns the offset of the Cb cell at column kx, row ky (8x8 pixels);
// its Cr cell lies 4 bytes further.
func (g Geometry) Chroma(kx, ky int) int {
	return (ky>>1*g.TilesX+kx>>1)*TileBytes + CellsPerTile + ky&1<<1 + kx&1
}

// Signature is the tile-major block means of one frame.
type Signature []byte
