/**
 * Databases as the last version with the migrations 0001–0048 left them: its files word by word
 * (`test/fixtures/*-of-0048.sql`), applied as its `migrate` applied them, with the records that it kept.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { openDatabase } from '../../persistence/postgres/sql.ts';

interface Part {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

/** The files of a fixture; each begins with a line `--== name`. */
function partsOf(fixture: string): Part[] {
  const [, ...pieces] = readFileSync(new URL(`../fixtures/${fixture}`, import.meta.url), 'utf8').split(/^--== /m);
  return pieces.map((piece) => {
    const end = piece.indexOf('\n'),
      text = piece.slice(end + 1);
    return { name: piece.slice(0, end), text, checksum: createHash('sha256').update(text).digest('hex') };
  });
}

export const formerTables = (): Part[] => partsOf('tables-of-0048.sql');
export const formerFunctions = (): Part[] => partsOf('functions-of-0048.sql');

const PREAMBLE = `
  do $$
  begin
    for attempt in 1..5 loop
      begin
        if not exists (select 1 from pg_roles where rolname = 'flock_owner') then create role flock_owner nologin; end if;
        if not exists (select 1 from pg_roles where rolname = 'flock_app') then create role flock_app login noinherit; end if;
        exit;
      exception when duplicate_object or unique_violation or internal_error then null; -- made meanwhile: look again
      end;
    end loop;
    execute format('grant create on database %I to flock_owner', current_database());
  end $$;
  set role flock_owner;
  create schema if not exists flock;
  set search_path = flock;
  create table if not exists migration (
    number int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now());
  create table if not exists function (
    name text primary key, checksum text not null, applied_at timestamptz not null default now());
  create table if not exists function_set (one boolean primary key default true check (one), set int not null);`;

/**
 * Takes a database from where it is to a former number, with the functions of that file; `upTo` left out: to 0048, and
 * then to the functions of its release. Throws: Error as that release did, when the
 * database is newer.
 */
export async function migrateFormer(url: string, upTo = Infinity): Promise<void> {
  const sql = openDatabase({ url, connections: 1, name: 'release-of-0048', role: null });
  try {
    await sql.unsafe(PREAMBLE);
    const done = await sql<{ number: number; name: string }[]>`select number, name from migration order by number`;
    const files = formerTables();
    for (const { number, name } of done)
      if (files[number - 1] === undefined)
        throw new Error(`the database is at ${name}, newer than this version of Flock`);
    for (const [index, { name, text, checksum }] of files.entries()) {
      if (index < done.length || index >= upTo) continue;
      await sql.unsafe(`begin; set local search_path = flock, pg_temp;\n${text}\n;
        insert into flock.migration (number, name, checksum) values (${index + 1}, '${name}', '${checksum}'); commit;`);
    }
    if (upTo !== Infinity) return;
    const functions = formerFunctions();
    await sql.unsafe(`begin; set local search_path = flock, pg_temp;
      ${functions.map(({ text }) => text).join('\n')}
      ${functions.map(({ name, checksum }) => `insert into function (name, checksum) values ('${name}', '${checksum}');`).join('\n')}
      insert into function_set (set) values (1); commit;`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
