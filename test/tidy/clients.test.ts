/** What is made of the route table is committed as it would be made now, and breaks no program of a release. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { breaksBetween } from '../../clients/generate/breaks.ts';
import { contractNow, type Contract } from '../../clients/generate/contract.ts';
import { generated, isReleased } from '../../clients/generate/write.ts';
import { ROOT } from '../support/tree.ts';

const FROZEN = join(ROOT, 'clients/contract');
const MAJOR = /^(\d+)\./;

test('ecosystem X3 nothing that a contract of this major version has is broken: what is, is named', (t) => {
  const now = contractNow();
  const major = MAJOR.exec(now.version)![1];
  const frozen = readdirSync(FROZEN).filter((name) => MAJOR.exec(name)?.[1] === major);
  t.true(frozen.includes(`${now.version}.json`));
  for (const name of frozen) {
    const before = JSON.parse(readFileSync(join(FROZEN, name), 'utf8')) as Contract;
    t.is(`${before.version}.json`, name);
    t.deepEqual(
      breaksBetween(before, now),
      [],
      `programs for ${before.version} break. Before its release, and on purpose: npm run -s clients`,
    );
  }
});

test('ecosystem X1 generated files are what the route table makes of them, byte by byte: npm run -s clients', (t) => {
  const files = generated();
  t.true(files.size > 0);
  for (const [path, text] of files) {
    const file = join(ROOT, path);
    t.true(existsSync(file), `${path} is missing: npm run -s clients`);
    t.true(readFileSync(file, 'utf8') === text, `${path} is not what would be made: npm run -s clients`);
  }
});

test('ecosystem X3 the contract of a version that has its day is made no more', (t) => {
  const changelog = '# Changelog\n\n## 1.1.0 — unreleased\n\n## 1.0.0 — 2026-12-01\n';
  t.true(isReleased('1.0.0', changelog));
  t.false(isReleased('1.1.0', changelog));
  t.false(isReleased('1.0', changelog));
});
