/** Differences of two releases, and a CHANGELOG that has to mention them. Ecosystem X73. */
import test from 'ava';
import {
  differencesBetween,
  draftOf,
  sectionOf,
  unmentioned,
  versionBefore,
  type Release,
} from '../../../clients/generate/changes.ts';
import { contractNow } from '../../../clients/generate/contract.ts';
import { surfaceNow } from '../../../clients/generate/surface.ts';

const now: Release = { contract: contractNow(), surface: surfaceNow() };
type Draft = { -readonly [K in keyof Release]: Release[K] extends object ? Record<string, never> : never };
/** A copy that a test may change. */
const copy = (): any => structuredClone(now) as unknown as Draft;

test('ecosystem X73 the same release twice has no difference, and what is frozen is there', (t) => {
  t.deepEqual(differencesBetween(now, copy() as Release), []);
  t.true(now.surface.settings.includes('DATABASE_URL') && now.surface.settings.includes('EDGE_DATA_DIR'));
  t.true(now.surface.logFields.includes('requestId'));
  t.is(now.surface.metrics['svc_check'], 'gauge {check} {side}');
});

for (const [what, change, name, breaks] of [
  ['an operation', (one) => delete one.contract.operations.createAddress, 'createAddress', true],
  ['a code', (one) => delete one.contract.codes.NOT_FOUND, 'NOT_FOUND', true],
  ['an event', (one) => delete one.contract.events.deposit_confirmed, 'deposit_confirmed', true],
  ['a field of a reply', (one) => delete one.contract.shapes.Lease.fields.epoch, 'epoch', true],
  ['a metric', (one) => delete one.surface.metrics.svc_check, 'svc_check', true],
  ['the labels of a metric', (one) => (one.surface.metrics.svc_check = 'gauge {check}'), 'svc_check', true],
  [
    'a setting',
    (one) => one.surface.settings.splice(one.surface.settings.indexOf('CLOUD_PORT'), 1),
    'CLOUD_PORT',
    true,
  ],
  ['an exit code', (one) => (one.surface.exitCodes.refused = 9), 'refused', true],
  ['a log field', (one) => one.surface.logFields.splice(one.surface.logFields.indexOf('node'), 1), 'node', true],
] as const satisfies readonly (readonly [string, (one: any) => unknown, string, boolean])[]) {
  test(`ecosystem X73 ${what} that is gone or another, or new, fails until the CHANGELOG names it`, (t) => {
    const other = copy();
    change(other);
    const lost = differencesBetween(now, other as Release);
    t.true(
      lost.some((one) => one.name === name && one.breaks === breaks),
      JSON.stringify(lost),
    );
    t.regex(draftOf(lost), /^### What breaks, and what to do\n- /);
    const back = differencesBetween(other as Release, now);
    t.true(
      back.some((one) => one.name === name),
      JSON.stringify(back),
    );
    for (const found of [lost, back]) {
      const section = found.map((one) => `- \`${one.name}\` is another.`).join('\n');
      t.deepEqual(unmentioned(found, section), []);
      t.deepEqual(
        unmentioned(found, section.replaceAll(name, `${name}Other`)),
        found.filter((one) => one.name === name),
      );
    }
  });
}

test('ecosystem X73 what is new beside an old one is no break', (t) => {
  const before = copy();
  delete before.contract.operations.createAddress;
  before.surface.settings = before.surface.settings.filter((one: string) => one !== 'CLOUD_PORT');
  const found = differencesBetween(before as Release, now);
  t.deepEqual(
    found.filter(({ breaks }) => breaks),
    [],
  );
  t.regex(draftOf(found), /^### New\n- createAddress: the operation is new\.\n- the setting CLOUD_PORT is new\.\n/);
});

test('ecosystem X73 the release before is the newest of the frozen ones, and a section is of one version', (t) => {
  t.is(versionBefore(['1.0.0', '1.10.0', '1.9.0', '2.0.0'], '2.0.0'), '1.10.0');
  t.is(versionBefore(['1.0.0'], '1.0.0'), null);
  const changelog = '# Changelog\n\n## 1.1.0 — unreleased\n- a\n\n## 1.0.0 — 2026-01-01\n- b\n';
  t.is(sectionOf(changelog, '1.0.0'), '## 1.0.0 — 2026-01-01\n- b\n');
  t.is(sectionOf(changelog, '1.1.0'), '## 1.1.0 — unreleased\n- a\n\n');
  t.is(sectionOf(changelog, '3.0.0'), '');
});
