package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rookery/hub"
	"rookery/infer/checkpoint"
	"rookery/sessions"
	"rookery/untrusted"
)

// modelStore is the folder of models in the data directory.
func (a *app) modelStore() (*hub.Store, error) {
	c, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	free := func(dir string) uint64 {
		n, ok := sessions.FreeSpace(dir)
		if !ok || n < 0 {
			return 0
		}
		return uint64(max(n, 1))
	}
	return &hub.Store{Dir: filepath.Join(c.Storage.DataDir, "models"), Free: free}, nil
}

func (a *app) pullCommand() *cobra.Command {
	var table, sum string
	var parts int
	cmd := &cobra.Command{
		Use: "pull SOURCE...", Short: "Fetch models from a hub or a URL",
		Long: "Fetch model files into the folder models of the data directory, where the chat finds them. A source is\n" +
			"hf:OWNER/REPO/FILE, ms:OWNER/REPO/FILE (both with @REVISION after REPO), the name of a release that\n" +
			"`rookery models releases` lists, or a URL. An interrupted fetch goes on when the command is run again.\n\n" +
			"HF_ENDPOINT names a mirror, HF_TOKEN opens private repositories, HTTPS_PROXY is followed.",
		Example: "rookery models pull rwkv7-g1-0.4b-20250324-ctx4096\nrookery models pull hf:BlinkDL/rwkv7-g1/rwkv7-g1-1.5b-20250429-ctx4096.pth",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.pullModels(cmd, args, table, strings.ToLower(sum), parts)
		},
	}
	cmd.Flags().StringVar(&table, "table", "", "file with more releases")
	cmd.Flags().StringVar(&sum, "sha256", "", "what the SHA-256 must be")
	cmd.Flags().IntVar(&parts, "parts", 4, "parts to fetch at a time")
	return cmd
}

func (a *app) pullModels(cmd *cobra.Command, sources []string, table, sum string, parts int) error {
	if parts < 1 || parts > 64 {
		return exitWith(exitUsage, fmt.Errorf("--parts %d: use 1 to 64", parts))
	}
	if sum != "" && (len(sources) > 1 || len(sum) != 2*sha256.Size) {
		return exitWith(exitUsage, errors.New("--sha256 is for one file and has 64 digits"))
	}
	store, err := a.modelStore()
	if err != nil {
		return err
	}
	store.Workers = parts
	releases, err := hub.Releases(table)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	client := hub.NewClient(releases)
	meter := newMeter(cmd.ErrOrStderr())
	defer meter.clear()
	for _, source := range sources {
		item, err := client.Resolve(cmd.Context(), source)
		if err != nil {
			return err
		}
		if sum != "" && item.SHA256 != "" && item.SHA256 != sum {
			return fmt.Errorf("%s: its SHA-256 is %s there, not %s", source, item.SHA256, sum)
		}
		if sum != "" {
			item.SHA256 = sum
		}
		path, err := store.Pull(cmd.Context(), client, item, func(done, total int64) {
			meter.show("fetching "+item.Name, done, total, "bytes")
		})
		meter.clear()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), path); err != nil {
			return err
		}
	}
	return nil
}

// storeCommands are ls, rm and gc.
func (a *app) storeCommands() []*cobra.Command {
	var asJSON bool
	list := &cobra.Command{
		Use: "ls", Short: "List the models that were fetched", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listModels(cmd, asJSON) },
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	remove := &cobra.Command{
		Use: "rm NAME...", Short: "Remove models that were fetched", Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.modelStore()
			for _, name := range args {
				if err == nil {
					err = store.Remove(name)
				}
			}
			return err
		},
	}
	collect := &cobra.Command{
		Use: "gc", Short: "Remove what no model uses and half fetches", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := a.modelStore()
			if err != nil {
				return err
			}
			freed, err := store.Collect()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s freed\n", bytesText(freed))
			return err
		},
	}
	var table string
	releases := &cobra.Command{
		Use: "releases", Short: "List the releases that pull knows by name", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := hub.Releases(table)
			if err != nil {
				return exitWith(exitUsage, err)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, r := range all {
				_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", r.Name, bytesText(r.Size), r.Source) // reported by Flush
			}
			return w.Flush()
		},
	}
	releases.Flags().StringVar(&table, "table", "", "file with more releases")
	return []*cobra.Command{list, remove, collect, releases}
}

func (a *app) listModels(cmd *cobra.Command, asJSON bool) error {
	store, err := a.modelStore()
	if err != nil {
		return err
	}
	all, err := store.List()
	if err != nil {
		return err
	}
	if asJSON {
		type modelJSON struct {
			Name   string `json:"name"`
			SHA256 string `json:"sha256,omitempty"`
			Bytes  int64  `json:"bytes"`
		}
		out := make([]modelJSON, 0, len(all))
		for _, k := range all {
			out = append(out, modelJSON{k.Name, k.SHA256, k.Size})
		}
		return printJSON(cmd.OutOrStdout(), out)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, k := range all {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%.12s\n", k.Name, bytesText(k.Size), k.SHA256) // reported by Flush
	}
	return w.Flush()
}

func verifyCommand() *cobra.Command {
	var table string
	cmd := &cobra.Command{
		Use: "verify FILE...", Short: "Compare models with the official releases",
		Long: "Read files completely: compare size and SHA-256 with the table of official releases, and what is inside\n" +
			"with the checksums that it carries. Files that differ or are damaged end the command with 1.",
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			releases, err := hub.Releases(table)
			if err != nil {
				return exitWith(exitUsage, err)
			}
			var bad error
			for _, path := range args {
				said, err := verifyFile(cmd, releases, path)
				bad = errors.Join(bad, err)
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", path, said)
					bad = errors.Join(bad, err)
				}
			}
			return bad
		},
	}
	cmd.Flags().StringVar(&table, "table", "", "file with more releases: a table, or RWKV-Runner's manifest.json")
	return cmd
}

// verifyFile says what a file is; the error says what is wrong with it.
func verifyFile(cmd *cobra.Command, releases []hub.Release, path string) (string, error) {
	meter := newMeter(cmd.ErrOrStderr())
	defer meter.clear()
	sum, size, err := sumFile(cmd.Context(), path, func(done, total int64) { meter.show("reading", done, total, "bytes") })
	if err != nil {
		return "", err
	}
	name := filepath.Base(path)
	for _, r := range releases {
		switch {
		case r.SHA256 == sum && r.Size == size:
			return "the official " + r.Name + pedigree(r.Name) + "; size and SHA-256 are right", nil
		case r.Name == name && r.Size != size:
			return "", fmt.Errorf("%s: it has %d bytes, the official file of that name %d; fetch it again", path, size, r.Size)
		case r.Name == name:
			return "", fmt.Errorf("%s: its SHA-256 is %s, that of the official file of that name %s; fetch it again", path, sum, r.SHA256)
		}
	}
	f, err := checkpoint.Open(path)
	if err != nil {
		return "", exitWith(exitModel, err)
	}
	inside := "no checksums inside"
	if f.HasChecksums() {
		inside = "the checksums inside are right"
	}
	if err := errors.Join(f.Verify(cmd.Context(), nil), f.Close()); err != nil {
		return "", exitWith(exitModel, err)
	}
	return fmt.Sprintf("no official file that is known%s; %s; SHA-256 %s", pedigree(name), inside, sum), nil
}

// pedigree is what a name says, for people.
func pedigree(name string) string {
	p := hub.PedigreeOf(name)
	var out []string
	for _, part := range []struct{ what, value string }{
		{"generation", p.Generation}, {"size", p.Size}, {"of", p.Date}, {"context", p.Context},
	} {
		if part.value != "" {
			out = append(out, part.what+" "+part.value)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

// sumFile reads a whole file.
func sumFile(ctx context.Context, path string, progress func(done, total int64)) (sum string, size int64, err error) {
	f, err := untrusted.Open(ctx, path, untrusted.Unbounded)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	for done := int64(0); err == nil; {
		var n int64
		n, err = io.CopyN(h, f, 8<<20)
		done += n
		progress(done, f.Size())
	}
	size = f.Size()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return hex.EncodeToString(h.Sum(nil)), size, errors.Join(err, f.Close())
}
