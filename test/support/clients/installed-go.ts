/** The Go client as a module: packed, installed offline in an empty folder from a proxy of files, built once. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../../protocol/version.ts';
import { ROOT } from '../tree.ts';
import type { Driver } from './drive.ts';

export const GO_MODULE = 'flock.example/flock';
const SUPPORT = fileURLToPath(new URL('./go/', import.meta.url));
/** What is compiled once is there for the next test file, and goes with `node_modules`. */
const CACHE = join(ROOT, 'node_modules/.cache/flock-go');

/** Debian's Go; installed by apt where the machine lacks it and allows it. Throws: it is missing. */
export function requireGo(): void {
  const isThere = (): boolean => existsSync('/usr/bin/go');
  if (isThere()) return;
  if (process.getuid?.() !== 0) throw new Error('go is missing: apt-get install golang-go');
  execFileSync('apt-get', ['update', '-q'], { stdio: 'ignore' });
  execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'golang-go'], {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (!isThere()) throw new Error('go is missing: apt-get install golang-go');
}

export interface GoPlace {
  /** A program of its own: a module that wants the client, and nothing of the network. */
  readonly folder: string;
  readonly archive: string;
  readonly version: string;
  /** Runs `go` there, or in `cwd`. Throws: it fails, with what it wrote. */
  go(args: readonly string[], more?: { readonly cwd?: string }): string;
  gofmt(args: readonly string[]): string;
  /** Packs into another folder; the archive's path. */
  pack(folder: string): string;
  remove(): void;
}

export interface InstalledGo extends GoPlace {
  readonly driver: Driver;
  /** The driver with another text of one of the client's files. Throws: what is to be replaced is not there. */
  planted(file: string, there: string, instead: string): Driver;
}

/** A program's folder in which the packed client is installed. */
export function placeForGo(): GoPlace {
  requireGo();
  const folder = mkdtempSync(join(tmpdir(), 'flock-installed-'));
  const pack = (into: string): string =>
    execFileSync('python3', [join(ROOT, 'clients/go/pack.py'), into], { encoding: 'utf8' }).trim();
  const proxy = join(folder, 'proxy');
  mkdirSync(proxy);
  const archive = pack(proxy);
  mkdirSync(CACHE, { recursive: true });
  const run = (name: 'go' | 'gofmt', args: readonly string[], cwd = folder): string => {
    try {
      return execFileSync(`/usr/bin/${name}`, args, {
        cwd,
        encoding: 'utf8',
        stdio: 'pipe',
        env: {
          PATH: process.env['PATH'],
          HOME: folder,
          GOCACHE: CACHE,
          GOENV: 'off',
          GOFLAGS: '-mod=mod -modcacherw -trimpath',
          GOMODCACHE: join(folder, 'modules'),
          GONOSUMDB: GO_MODULE,
          GOPROXY: `file://${proxy}`,
          GOTOOLCHAIN: 'local',
        },
      });
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new Error(`${name} ${args.join(' ')}: ${stdout ?? ''}${stderr ?? ''}`, { cause: error });
    }
  };
  const go: GoPlace['go'] = (args, { cwd } = {}) => run('go', args, cwd);
  writeFileSync(join(folder, 'go.mod'), 'module program.example\n\ngo 1.19\n');
  go(['get', `${GO_MODULE}@v${VERSION}`]);
  const gofmt: GoPlace['gofmt'] = (args) => run('gofmt', args);
  const version = `v${VERSION}`;
  return { folder, archive, version, go, gofmt, pack, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The same with the suite's driver, built. */
export function installGo(): InstalledGo {
  const place = placeForGo();
  const { folder, go } = place;
  copyFileSync(join(SUPPORT, 'driver.go'), join(folder, 'driver.go'));
  const built = (name: string): Driver => {
    const command = join(folder, name);
    go(['build', '-o', command, 'driver.go']);
    return { command, args: [], cwd: folder, agent: `flock-go/${VERSION}` };
  };
  return {
    ...place,
    driver: built('driver'),
    planted(file, there, instead) {
      const path = join(folder, 'modules', `${GO_MODULE}@v${VERSION}`, file);
      const text = readFileSync(path, 'utf8');
      if (!text.includes(there)) throw new Error(`${file} has no ${there}`);
      try {
        writeFileSync(
          path,
          text.replaceAll(there, () => instead),
        );
        return built(`planted-${file}`);
      } finally {
        writeFileSync(path, text);
      }
    },
  };
}
