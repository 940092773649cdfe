/** A data directory of a test's own, removed with the process. */
import { mkdtempSync, rmSync } from 'node:fs';
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

export function newStorage(): Storage {
  return openStorage(newDirectory());
}
