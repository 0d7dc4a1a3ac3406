package sessions

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"slices"
)

// applicationID marks our databases ("Rkr2" in ASCII), so that another
// program's file is never taken for one of ours.
const applicationID = 0x526b7232

// earlierIDs marked the databases of programs from before the first release.
// Their schemas count for themselves, and nothing reads them any more.
var earlierIDs = []int{0x526f6f6b, 0x526b7279}

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations are the scripts in order; the schema version is their number.
func migrations() ([]string, error) {
	entries, err := fs.ReadDir(migrationFiles, "migrations")
	if err != nil {
		return nil, fmt.Errorf("reading the embedded migrations: %w", err)
	}
	scripts := make([]string, len(entries))
	for i, e := range entries {
		data, err := fs.ReadFile(migrationFiles, "migrations/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("reading the embedded migrations: %w", err)
		}
		scripts[i] = string(data)
	}
	return scripts, nil
}

// migrate brings the schema up to date by scripts, one transaction for each, and
// refuses what it does not know before anything is written.
func migrate(ctx context.Context, db *sql.DB, path string, scripts []string) error {
	version, err := identify(ctx, db, path)
	if err != nil {
		return err
	}
	if version > len(scripts) {
		return fmt.Errorf("%s was written by a newer rookery (schema %d; this one knows %d): update rookery or choose another storage.data_dir; nothing was changed", path, version, len(scripts))
	}
	for n := version; n < len(scripts); n++ {
		if err := inTx(ctx, db, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, scripts[n]); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, n+1))
			return err
		}); err != nil {
			return explain(fmt.Sprintf("updating %s to schema %d", path, n+1), err)
		}
	}
	return nil
}

// identify returns the schema version of our database, 0 for an empty one, or
// says whose it is.
func identify(ctx context.Context, db *sql.DB, path string) (int, error) {
	var app, version, tables int
	row := db.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`)
	if err := row.Scan(&app, &version, &tables); err != nil {
		return 0, explain("opening "+path, err)
	}
	if slices.Contains(earlierIDs, app) {
		return 0, fmt.Errorf("%s is of an earlier rookery: write a bundle with that one (`rookery sessions export -o all.rookery all`), move the database away, and read the bundle with this one (`rookery sessions import all.rookery`); nothing was changed", path)
	}
	if app != applicationID && (tables > 0 || version != 0) || version < 0 {
		return 0, fmt.Errorf("%s is a database of another program: move it away or choose another storage.data_dir; nothing was changed", path)
	}
	return version, nil
}

// inTx runs f in a transaction.
func inTx(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		if rerr := tx.Rollback(); rerr != nil {
			return fmt.Errorf("%w (and rolling back: %w)", err, rerr)
		}
		return err
	}
	return tx.Commit()
}
