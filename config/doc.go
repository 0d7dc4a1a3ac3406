// Package config reads rookery's configuration: one TOML file in which every
// key is optional, unknown keys are errors with their line, and which is read
// again when it changes while the program runs.
package config
