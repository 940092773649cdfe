/** `npm run -s clients`: writes what is made of the route table. A test compares each file with what it would be. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { breaksBetween } from './breaks.ts';
import { cliFiles } from './cli.ts';
import { contractNow, contractText, examplesNow, type Contract } from './contract.ts';
import { goFiles } from './go.ts';
import { operationFiles } from './operations.ts';
import { surfaceNow, surfaceText } from './surface.ts';
import { pythonFiles } from './python.ts';
import { typescriptFiles } from './typescript.ts';

const ROOT = new URL('../../', import.meta.url);

/** True once the CHANGELOG has a day for the version: its contract is what customers have, and stays. */
export function isReleased(version: string, changelog: string): boolean {
  const heading = changelog.split('\n').find((line) => line.startsWith(`## ${version} `));
  return heading !== undefined && !heading.endsWith('unreleased');
}

/** Every generated file by its path from the root. Throws: the version is released already. */
export function generated(): ReadonlyMap<string, string> {
  const contract = contractNow();
  if (isReleased(contract.version, readFileSync(new URL('CHANGELOG.md', ROOT), 'utf8')))
    throw new Error(
      `${contract.version} is released: give package.json the next version and the CHANGELOG its heading`,
    );
  return new Map([
    [`clients/contract/${contract.version}.json`, contractText(contract)],
    [`clients/contract/surface/${contract.version}.json`, surfaceText(surfaceNow())],
    ...typescriptFiles(contract, examplesNow()),
    ...pythonFiles(contract),
    ...cliFiles(contract),
    ...goFiles(contract),
    ...operationFiles(),
  ]);
}

if (import.meta.main) {
  for (const [path, text] of generated()) {
    const file = new URL(path, ROOT);
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
    if (/^clients\/contract\/[^/]+$/.test(path) && existsSync(file))
      for (const line of breaksBetween(JSON.parse(readFileSync(file, 'utf8')) as Contract, contractNow()))
        process.stderr.write(`breaks programs for it: ${line}\n`);
    mkdirSync(dirname(file.pathname), { recursive: true });
    writeFileSync(file, text);
    process.stdout.write(`${path}\n`);
  }
}
