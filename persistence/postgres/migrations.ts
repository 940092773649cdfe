/**
 * The numbered steps of the schema, and which of them a database lacks.
 *
 *   tables/0049_beginning/   the schema as one step: a folder of files by capability. An empty database begins with it
 *   tables/0050_….sql        what came later, one file a step; forward only. One whose indexes are made `concurrently`
 *                            has nothing else: it runs statement by statement, outside of a transaction
 *
 *   history of the database                what `migrate` does
 *   none                                   the beginning, then every later step
 *   the beginning and some later steps     the steps that it lacks
 *   1–48, as the last release left them    takes it over: records the beginning as done, marks 1–48 as superseded by it
 *   1–n, n below 48                        database_too_old
 *   a step whose statements are not ours   migration_changed
 *   a number that is not among ours        database_newer
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  /** Of its statements: comments may be reworded, statements may not. */
  readonly checksum: string;
  /** Its statements, where each is to run by itself, outside of a transaction; null for a step that is one. */
  readonly concurrently: readonly IndexStatement[] | null;
}

/** Makes an index, or drops one, while the table is read and written. */
export interface IndexStatement {
  readonly text: string;
  /** The index that it makes; null for one that drops. */
  readonly makes: string | null;
}

/** A row of `flock.migration`. */
export interface Applied {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

export type MigrationFault =
  'database_newer' | 'database_too_old' | 'functions_newer' | 'migration_changed' | 'statement_failed';

/** A database that cannot be brought to this version, and the next step in words. */
export class MigrationError extends Error {
  readonly code: MigrationFault;

  constructor(code: MigrationFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MigrationError';
    this.code = code;
  }
}

const FOLDER = new URL('./tables/', import.meta.url);

/** What the beginning took the place of: the number of files, the name of the last one, and `historyDigest` of all. */
export const SUPERSEDED = {
  last: 48,
  name: '0048_amount_of_version.sql',
  digest: '2148c402716271e33eb4081ff3484b0b94c79ec60b0887b7e448350f0d7420e3',
} as const;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Of the checksums of rows of `flock.migration`, in the order of their numbers. */
export const historyDigest = (rows: readonly Pick<Applied, 'checksum'>[]): string =>
  sha256(rows.map(({ checksum }) => checksum).join('\n'));

const checksumOf = (text: string): string =>
  sha256(
    text
      .split('\n')
      .filter((line) => !/^\s*(--|$)/.test(line))
      .join('\n'),
  );

/** The steps in their order, the beginning first. Throws: Error when a name or the order of the numbers is wrong. */
export function migrations(): Migration[] {
  const entries = readdirSync(FOLDER, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.map((entry, index) => {
    const number = Number(/^([0-9]{4})_[a-z0-9_]+(?:\.sql)?$/.exec(entry.name)?.[1] ?? NaN);
    if (entry.isDirectory() !== (index === 0) || number !== SUPERSEDED.last + 1 + index)
      throw new Error(`tables/${entry.name} is not the step number ${SUPERSEDED.last + 1 + index}`);
    const text = entry.isDirectory() ? folderText(new URL(`${entry.name}/`, FOLDER)) : textOf(entry.name);
    return {
      number,
      name: entry.name,
      text,
      checksum: checksumOf(text),
      concurrently: indexStatements(text, entry.name),
    };
  });
}

/**
 * The statements of a step that is run outside of a transaction; null for any other. `if not exists` and `if exists`
 * are what a step that broke off is begun again by. Throws: Error when a statement of such a step does something else.
 */
export function indexStatements(text: string, name: string): IndexStatement[] | null {
  const code = text.replace(/--[^\n]*/g, '');
  if (!/\bconcurrently\b/i.test(code)) return null;
  const statements = code.split(';').flatMap((part) => part.trim() || []);
  return statements.map((statement) => {
    const made = /^create (?:unique )?index concurrently if not exists ([a-z0-9_]+) on [a-z_]+\s/.exec(statement);
    if (made === null && !/^drop index concurrently if exists [a-z0-9_]+$/.test(statement))
      throw new Error(
        `tables/${name} makes an index concurrently: all that it has is "create index concurrently if not exists … on …" and "drop index concurrently if exists …", not "${statement.slice(0, 60)}"`,
      );
    return { text: statement, makes: made?.[1] ?? null };
  });
}

const textOf = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

function folderText(folder: URL): string {
  return readdirSync(folder)
    .sort()
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n');
}

export interface Plan {
  /** The database has the beginning by way of 1–48. */
  readonly takesOver: boolean;
  readonly missing: readonly Migration[];
}

/** What a database with these rows, ordered by number, lacks. Throws: MigrationError when it cannot go on. */
export function planOf(done: readonly Applied[], steps: readonly Migration[]): Plan {
  const [beginning] = steps as [Migration];
  const own = done.filter(({ number }) => number >= beginning.number);
  if (own.length > 0) {
    for (const row of own) holdAgainst(row, steps[row.number - beginning.number]);
    return { takesOver: false, missing: steps.slice(own.length) };
  }
  if (done.length === 0) return { takesOver: false, missing: steps };
  const last = done.at(-1)!;
  if (done.length < SUPERSEDED.last) throw tooOld(`the database is at ${last.name}`);
  if (historyDigest(done) !== SUPERSEDED.digest)
    throw new MigrationError(
      'migration_changed',
      `migrations 1 to ${SUPERSEDED.last} of this database are not those of Flock: one changed after it ran; restore a backup from before`,
    );
  return { takesOver: true, missing: steps.slice(1) };
}

function holdAgainst(row: Applied, step: Migration | undefined): void {
  if (step === undefined)
    throw new MigrationError(
      'database_newer',
      `the database is at ${row.name}, newer than this version of Flock: run the newest version`,
    );
  if (step.checksum !== row.checksum)
    throw new MigrationError(
      'migration_changed',
      `${row.name} changed after it ran on this database; a correction is a new file`,
    );
}

/** A database that has not reached the last step before the beginning. */
export function tooOld(what: string): MigrationError {
  return new MigrationError(
    'database_too_old',
    `${what}; this version takes over databases of ${SUPERSEDED.name} and later: first run "npm run -s migrate" of the last version of Flock that has persistence/postgres/tables/${SUPERSEDED.name}, then this one`,
  );
}
