// Package config reads rookery's configuration, one TOML file. Every key is optional,
// an unknown key is an error that names its line, and the program reads the file again
// when it changes.
package config
