// Package index keeps everything but pixels in one SQLite database: sessions, timeline facts, frame rows,
// events, pins, artifacts, and which files exist. One goroutine writes, in batches; readers see what was
// committed and use Barrier to see everything accepted before.
package index

// Name is the database's file name inside an instance root.
const Name = "index.db"

// Files are all files that the database may consist of.
func Files() []string { return []string{Name, Name + "-wal", Name + "-shm", Name + "-journal"} }

const (
	// applicationID is "KTRI"; it marks the file as ours.
	applicationID = 0x4b545249
	// schemaVersion is the one version that is read and written. Another version is never migrated.
	schemaVersion = 1
)

// schema holds the statements that make an empty database current, in order. The text is compared with the
// file's own when a database is opened, so a change here needs a new schemaVersion.
//
// Times ending in _ns are session times unless named wall. Frame identifiers are kept as their 60 random bits. They
// are indexed by segment: an index over all of them would be written all over the place, and storing a frame would
// cost more the more frames there are. A frame is looked for from the newest segment back.
var schema = []string{
	`CREATE TABLE sessions(
		id TEXT NOT NULL PRIMARY KEY,
		started_wall INTEGER NOT NULL,
		ended_wall INTEGER,
		body TEXT NOT NULL
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE streams(
		key INTEGER PRIMARY KEY,
		session TEXT NOT NULL,
		target TEXT NOT NULL,
		created_ns INTEGER,
		evicted_through_ns INTEGER,
		body TEXT,
		UNIQUE(session, target)
	) STRICT`,
	`CREATE TABLE samples(
		session TEXT NOT NULL,
		at_ns INTEGER NOT NULL,
		wall_ns INTEGER NOT NULL,
		PRIMARY KEY(session, at_ns)
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE segments(
		key INTEGER PRIMARY KEY,
		id TEXT NOT NULL UNIQUE,
		session TEXT NOT NULL,
		sealed INTEGER NOT NULL,
		bytes INTEGER NOT NULL,
		created_wall INTEGER NOT NULL,
		last_wall INTEGER NOT NULL
	) STRICT`,
	`CREATE TABLE frames(
		stream INTEGER NOT NULL,
		ordinal INTEGER NOT NULL,
		id INTEGER NOT NULL,
		time_ns INTEGER NOT NULL,
		received_ns INTEGER NOT NULL,
		presented_ns INTEGER,
		chrome_timestamp REAL NOT NULL,
		format TEXT NOT NULL,
		width INTEGER NOT NULL,
		height INTEGER NOT NULL,
		segment INTEGER NOT NULL,
		offset INTEGER NOT NULL,
		bytes INTEGER NOT NULL,
		viewport TEXT NOT NULL,
		warnings TEXT,
		PRIMARY KEY(stream, ordinal)
	) STRICT, WITHOUT ROWID`,
	`CREATE INDEX frames_by_time ON frames(stream, time_ns)`,
	`CREATE INDEX frames_by_segment ON frames(segment, id)`,
	`CREATE TABLE facts(
		kind INTEGER NOT NULL,
		id TEXT NOT NULL,
		session TEXT NOT NULL,
		target TEXT NOT NULL,
		start_ns INTEGER NOT NULL,
		end_ns INTEGER NOT NULL,
		wall INTEGER NOT NULL,
		tag TEXT NOT NULL,
		body TEXT NOT NULL,
		PRIMARY KEY(kind, id)
	) STRICT, WITHOUT ROWID`,
	`CREATE INDEX facts_by_end ON facts(session, kind, end_ns, start_ns, target)`,
	`CREATE INDEX facts_by_start ON facts(session, kind, start_ns)`,
	`CREATE INDEX facts_by_wall ON facts(wall)`,
	`CREATE INDEX facts_evicted ON facts(session, target) WHERE tag = 'evicted'`,
	`CREATE TABLE events(
		key INTEGER PRIMARY KEY,
		session TEXT NOT NULL,
		target TEXT NOT NULL,
		source TEXT NOT NULL,
		sequence INTEGER NOT NULL,
		at_ns INTEGER NOT NULL,
		wall INTEGER NOT NULL,
		class TEXT NOT NULL,
		severity INTEGER NOT NULL,
		payload TEXT NOT NULL
	) STRICT`,
	`CREATE INDEX events_by_target ON events(session, target, at_ns, source, sequence)`,
	`CREATE INDEX events_by_time ON events(session, at_ns, source, sequence)`,
	`CREATE INDEX events_by_wall ON events(wall)`,
	`CREATE TABLE pins(
		key INTEGER PRIMARY KEY,
		session TEXT NOT NULL,
		target TEXT NOT NULL,
		start_ns INTEGER NOT NULL,
		end_ns INTEGER NOT NULL,
		through_ns INTEGER NOT NULL,
		UNIQUE(session, target, start_ns, end_ns)
	) STRICT`,
	`CREATE TABLE pin_segments(
		pin INTEGER NOT NULL,
		segment INTEGER NOT NULL,
		PRIMARY KEY(pin, segment)
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE artifacts(
		id TEXT NOT NULL PRIMARY KEY,
		cache_key TEXT NOT NULL UNIQUE,
		session TEXT NOT NULL,
		bytes INTEGER NOT NULL,
		created_wall INTEGER NOT NULL,
		body TEXT NOT NULL
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE artifact_segments(
		artifact TEXT NOT NULL,
		segment INTEGER NOT NULL,
		PRIMARY KEY(artifact, segment)
	) STRICT, WITHOUT ROWID`,
	`CREATE INDEX artifacts_by_segment ON artifact_segments(segment)`,
	`CREATE TABLE deletions(
		path TEXT NOT NULL PRIMARY KEY,
		bytes INTEGER NOT NULL
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE gone(
		seq INTEGER PRIMARY KEY,
		id TEXT NOT NULL UNIQUE,
		reason INTEGER NOT NULL
	) STRICT`,
}
