//go:build !amd64

package kernel

var sparsePaths [paths]*sparseTiles
