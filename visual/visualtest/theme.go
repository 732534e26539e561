package visualtest

import (
	"image/color"
	"math/rand/v2"
	"strconv"
	"strings"
)

type theme struct {
	dark                                     bool
	page, chrome, card, border, text, subtle color.RGBA
	accents                                  []color.RGBA
}

var white = color.RGBA{255, 255, 255, 255}

// newTheme draws dark for a quarter of the sequences.
func newTheme(r *rand.Rand) theme {
	accents := []color.RGBA{{37, 99, 235, 255}, {220, 38, 38, 255}, {22, 163, 74, 255}, {217, 119, 6, 255}, {147, 51, 234, 255}, {8, 145, 178, 255}}
	r.Shuffle(len(accents), func(i, j int) { accents[i], accents[j] = accents[j], accents[i] })
	if r.IntN(4) == 0 {
		return theme{
			dark: true, page: color.RGBA{17, 20, 26, 255}, chrome: color.RGBA{24, 28, 36, 255}, card: color.RGBA{30, 35, 44, 255},
			border: color.RGBA{55, 62, 74, 255}, text: color.RGBA{226, 230, 237, 255}, subtle: color.RGBA{148, 156, 170, 255}, accents: accents,
		}
	}
	return theme{
		page: color.RGBA{244, 245, 247, 255}, chrome: white, card: white, border: color.RGBA{219, 223, 229, 255},
		text: color.RGBA{28, 32, 38, 255}, subtle: color.RGBA{104, 112, 124, 255}, accents: accents,
	}
}

var words = strings.Fields(`order account invoice report weekly delivery window customer support review status pending approved
	draft payment route station harbour garden window letter market signal number total average growth region north south
	summer winter morning evening kettle paper button engine bridge river forest planet orange silver copper violet
	meeting agenda budget travel booking refund ticket answer question upload folder shared archive backup restore`)

// sentence returns n words, the first with a capital, sometimes with a number among them.
func sentence(r *rand.Rand, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = words[r.IntN(len(words))]
		if i > 0 && r.IntN(9) == 0 {
			out[i] = strconv.Itoa(r.IntN(9000) + 100)
		}
	}
	out[0] = strings.ToUpper(out[0][:1]) + out[0][1:]
	return strings.Join(out, " ")
}
