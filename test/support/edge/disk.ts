/** A data directory of a test's own, removed with the process. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStorage, type Storage } from '../../../edge/storage/storage.ts';

const made: string[] = [];
process.once('exit', () => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'flock-edge-'));
  made.push(directory);
  return directory;
}

let template: string | null = null;

/** A fresh one; the tables are made once in a process and copied, since making them costs a hundred times as much. */
export function newStorage(): Storage {
  if (template === null) openStorage((template = newDirectory())).close();
  const directory = newDirectory();
  cpSync(template, directory, { recursive: true });
  return openStorage(directory);
}
