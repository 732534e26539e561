// Package visual turns a sequence of user-interface frames into still pictures a person or a model can read.
package visual
