/** `flock-client` from its tarball, installed offline in an empty folder: what a customer has. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packTypescript } from '../../../clients/typescript/pack.ts';
import { VERSION } from '../../../protocol/version.ts';
import type { Driver } from './drive.ts';
import type { Fault } from './faults.ts';

export interface Installed {
  readonly folder: string;
  readonly tarball: string;
  readonly driver: Driver;
  /** Text of one of its files. */
  fileOf(path: string): string;
  /** Folder of a copy with a fault in it. Throws: what is to be replaced is not there. */
  planted(name: string, fault: Fault): string;
  remove(): void;
}

const DRIVER = fileURLToPath(new URL('./driver.mjs', import.meta.url));

export function installTypescript(): Installed {
  const folder = mkdtempSync(join(tmpdir(), 'flock-installed-'));
  const tarball = packTypescript(relative(process.cwd(), folder)); // as the quickstart gives it
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', tarball], { cwd: folder });
  copyFileSync(DRIVER, join(folder, 'driver.mjs'));
  const client = join(folder, 'node_modules/flock-client');
  return {
    folder,
    tarball,
    driver: {
      command: process.execPath,
      args: ['driver.mjs'],
      cwd: folder,
      agent: `flock-typescript/${VERSION}`,
    },
    fileOf: (path) => readFileSync(join(client, path), 'utf8'),
    planted(name, [file, there, instead]) {
      const copy = join(folder, 'planted', name);
      cpSync(client, copy, { recursive: true });
      const path = join(copy, `dist/${file}.js`);
      const text = readFileSync(path, 'utf8');
      if (!text.includes(there)) throw new Error(`${name}: ${file} has no ${there}`);
      writeFileSync(
        path,
        text.replaceAll(there, () => instead),
      );
      return copy;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
