/** The scenarios that are shipped, each played by the command against a real cloud and edge. Ecosystem X77. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { readScenario, shippedScenarios } from '../../clients/cli/scenario-file.ts';
import { commandHome, runCommand } from '../support/command.ts';
import { openDeveloper } from '../support/developer.ts';
import { ROOT } from '../support/tree.ts';

const flock = await openDeveloper();
const { env, folder, remove } = commandHome();
test.before(async (t) => {
  const { deployment } = flock;
  for (const [args, input] of [
    [['--url', deployment.cloudUrl], deployment.record.sandbox.cloudApiKey],
    [['--edge', deployment.edgeUrl, '--profile', 'edge'], deployment.localApiKey],
  ] as const)
    t.is((await runCommand(['login', ...args], { env, input })).code, 0);
});
test.after.always(async () => {
  await flock.close();
  remove();
});

for (const name of shippedScenarios())
  test.serial(`ecosystem X77 ${name} plays as it is written`, async (t) => {
    const set = 'url' in readScenario(name).inputs ? ['--set', `url=${flock.receiver.url}`] : [];
    const { code, out, err } = await runCommand(['scenario', name, '--edge', 'edge', ...set, '--json'], { env });
    t.is(code, 0, `${err}\n${out}`);
    t.like(JSON.parse(out), { scenario: name, passed: true });
  });

test.serial(
  'ecosystem X77 without a name all are listed; what comes of one is posted to an address, signed',
  async (t) => {
    const lines = (await runCommand(['scenario', '--json'], { env })).out.trim().split('\n');
    t.deepEqual(
      lines.map((line) => (JSON.parse(line) as { scenario: string }).scenario),
      shippedScenarios(),
    );
    const { secret } = JSON.parse((await runCommand(['listen', '--print-secret', '--json'], { env })).out) as {
      secret: string;
    };
    flock.receiver.setSecret(secret);
    const before = flock.receiver.received.length;
    const to = ['--forward-to', flock.receiver.url];
    const { code, err } = await runCommand(['scenario', 'payment-over', ...to, '--json'], { env });
    t.is(code, 0, err);
    const events = flock.receiver.received.slice(before).map(({ event }) => event);
    t.true(events.includes('payment_link_created') && events.includes('payment_confirmed'), events.join());
  },
);

test.serial('ecosystem X77 the file that the documentation shows plays', async (t) => {
  const [, example] = /```yaml\n(about: [\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/command-line.md'), 'utf8'))!;
  const file = join(folder, 'shown.yaml');
  writeFileSync(file, example!);
  const { code, err } = await runCommand(['scenario', file, '--edge', 'edge', '--set', 'url=x'], { env });
  t.is(code, 0, err);
});

test.serial(
  'ecosystem X78 the same numbers make the same addresses, amounts and order; another seed others',
  async (t) => {
    const seed = async (...more: string[]) => {
      const args = ['seed', '--addresses', '12', '--days', '3', ...more, '--json'];
      const { code, out, err } = await runCommand(args, { env });
      t.is(code, 0, err);
      return JSON.parse(out) as { addresses: number; deposits: number; sha256: string };
    };
    const [first, again, other] = [
      await seed('--seed', '7', '--reset'),
      await seed('--seed', '7', '--reset'),
      await seed('--seed', '8', '--reset'),
    ];
    t.deepEqual(again, first);
    t.not(other.sha256, first.sha256);
    t.true(other.deposits >= 12);
    t.is((await flock.atCloud.must('listAddresses', {})).totalElements, 12);
    t.is((await flock.atCloud.must('listTransactions', { query: { direction: 'in' } })).totalElements, other.deposits);
    const full = await runCommand(['seed', '--addresses', '1'], { env });
    t.is(full.code, 2);
    t.regex(full.err, /^NOT_EMPTY: .*--reset/);
    t.regex((await runCommand(['seed', '--days', '0'], { env })).err, /^USAGE: --days is a whole number from 1 to 400/);
  },
);

test.serial('ecosystem X77 a miss ends with 1 and names the step, what was expected and what was seen', async (t) => {
  const file = join(folder, 'own.yaml');
  const play = async (steps: string, ...more: string[]) => {
    writeFileSync(file, `about: one of ours\ninputs: { chain: eth }\nsteps:\n${steps}`);
    const { code, out, err } = await runCommand(['scenario', file, ...more, '--json'], { env });
    return { code, err, ...(out === '' ? {} : (JSON.parse(out) as object)) };
  };
  const address = "  - call: createAddress\n    with: { chain: '${chain}', userRef: 'x' }\n    as: address\n";
  t.like(
    await play(
      `${address}  - expect: getAddress\n    with: { id: '\${address.id}' }\n    is: { userRef: y }\n    within: 1\n`,
    ),
    {
      ...{ code: 1, passed: false, step: 2, at: 'userRef', expected: 'y', seen: 'x' },
    },
  );
  t.like(await play(`${address}  - wait: deposit_detected\n    within: 1\n`), {
    code: 1,
    step: 2,
    at: 'deposit_detected',
  });
  t.like(await play(`${address}  - call: getAddress\n    with: { id: '\${address.id}' }\n    refused: NOT_FOUND\n`), {
    ...{ code: 1, step: 2, at: 'code', expected: 'NOT_FOUND' },
  });
  t.like(await play('  - call: getAddress\n    with: { id: adr_none }\n'), {
    code: 1,
    step: 1,
    seen: { code: 'NOT_FOUND' },
  });
  t.regex(
    (await play("  - call: getAddress\n    with: { id: '${nobody.id}' }\n")).err,
    /nobody\.id.* nothing that a step before named/,
  );
  const wrong = async (steps: string, ...more: string[]) => {
    const { code, err } = await play(steps, ...more);
    t.is(code, 2, err);
    return err;
  };
  t.regex(await wrong('  - jump: 1\n'), /step 1: is one of call, advance, expect, wait/);
  t.regex(await wrong('  - wait: deposit_lost\n'), /step 1: wait: /);
  t.regex(await wrong('  - advance: {}\n'), /step 1: advance: needs `seconds`/);
  t.regex(await wrong('  - call: "\n'), /^SCENARIO: .*own\.yaml: /);
  t.regex(await wrong(address, '--set', 'zebra=1'), /--set zebra: own has chain/);
  t.regex((await runCommand(['scenario', 'nobody'], { env })).err, /^USAGE: no scenario nobody: .* payment-late/);
  const needy = await runCommand(['scenario', 'secret-rotation'], { env });
  t.is(needy.code, 1);
  t.regex(needy.err, /^NEEDS: secret-rotation needs /);
  const live = { FLOCK_URL: flock.deployment.cloudUrl, FLOCK_API_KEY: flock.deployment.record.live.cloudApiKey };
  t.regex((await runCommand(['scenario', 'payment-over'], { env: { ...env, ...live } })).err, /^SANDBOX_ONLY: /);
});
