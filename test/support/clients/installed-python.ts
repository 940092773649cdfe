/** The Python client from its wheel, unpacked in an empty folder: what `pip install` makes of it, without pip. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../../protocol/version.ts';
import { ROOT } from '../tree.ts';
import type { Driver } from './drive.ts';

export interface InstalledPython {
  readonly folder: string;
  readonly wheel: string;
  readonly driver: Driver;
  /** The same cases with the asynchronous client, on Debian's Python and its httpx. */
  readonly asynchronous: Driver;
  /** Packs into a folder; the wheel's path. */
  pack(folder: string): string;
  /** The driver of a copy with another text of one of its files. */
  planted(file: string, text: string): Driver;
  remove(): void;
}

const HTTPX = '/usr/lib/python3/dist-packages/httpx/__init__.py';
const SUPPORT = fileURLToPath(new URL('./', import.meta.url));

export function installPython(): InstalledPython {
  const folder = mkdtempSync(join(tmpdir(), 'flock-installed-'));
  const pack = (into: string): string =>
    execFileSync('python3', [join(ROOT, 'clients/python/pack.py'), into], { encoding: 'utf8' }).trim();
  const wheel = pack(folder);
  execFileSync('python3', ['-m', 'zipfile', '-e', wheel, folder]);
  for (const name of ['driver.py', 'story.py', 'verify.py']) copyFileSync(join(SUPPORT, name), join(folder, name));
  copyFileSync(join(ROOT, 'clients/python/README.md'), join(folder, 'flock_client-README.md'));
  const driverIn = (cwd: string): Driver => ({
    command: 'python3',
    args: ['driver.py'],
    cwd,
    env: { PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: cwd },
    agent: `flock-python/${VERSION}`,
  });
  return {
    folder,
    wheel,
    driver: driverIn(folder),
    asynchronous: asynchronousOf(driverIn(folder)),
    pack,
    planted(file, text) {
      const copy = join(folder, 'planted');
      cpSync(join(folder, 'flock_client'), join(copy, 'flock_client'), { recursive: true });
      copyFileSync(join(folder, 'driver.py'), join(copy, 'driver.py'));
      writeFileSync(join(copy, 'flock_client', file), text);
      return driverIn(copy);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The driver for the asynchronous client. Its Python is Debian's own, for which its packages are. */
export function asynchronousOf(driver: Driver): Driver {
  if (!existsSync(HTTPX)) throw new Error('httpx is missing: apt-get install python3-httpx');
  return { ...driver, command: '/usr/bin/python3', env: { ...driver.env, FLOCK_ASYNC: '1' } };
}

/** What a program of Python writes, run where the client is installed. Throws: it fails. */
export function runPython({ command, cwd, env }: Driver, args: readonly string[], input = '', more = {}): string {
  return execFileSync(command, args, { cwd, env: { ...process.env, ...env, ...more }, input, encoding: 'utf8' });
}
