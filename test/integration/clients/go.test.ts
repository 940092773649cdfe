/** The Go client as a customer gets it: its module, installed from a proxy of files, run by the behaviour suite. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { drive } from '../../support/clients/drive.ts';
import { GO_MODULE, installGo } from '../../support/clients/installed-go.ts';
import { CASES } from '../../support/clients/suite.ts';
import { ROOT, filesOf } from '../../support/tree.ts';

const installed = installGo();
test.after.always(() => installed.remove());

test('ecosystem X2, X4, X5, X6, X7, X8, X9, X11, X12, X15, X18 every case of the behaviour suite that can be in Go, with the packed client', async (t) => {
  const cases = CASES.filter(({ not }) => not?.['go'] === undefined);
  t.true(cases.length > CASES.length - 10);
  const judged = await drive(
    installed.driver,
    cases.map((one) => ({ case: one })),
  );
  t.deepEqual(
    judged.filter(({ wrong }) => wrong.length > 0).map(({ case: { id }, wrong }) => ({ id, wrong })),
    [],
  );
});

test('ecosystem X12 the suite finds a fault of the Go client too', async (t) => {
  const faulty = installed.planted('send.go', 'about.IdempotencyKey = newKey()', 'about.IdempotencyKey = "fixed"');
  const judged = await drive(
    faulty,
    CASES.filter(({ id }) => id.startsWith('key.another')).map((one) => ({ case: one })),
  );
  t.regex(judged[0]!.wrong.join(), /one key for two calls/);
});

test('ecosystem X18 the module wants nothing else, is the same bytes again, and its text is as gofmt writes it', (t) => {
  const again = join(installed.folder, 'again');
  mkdirSync(again);
  const hash = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
  t.is(hash(installed.pack(again)), hash(installed.archive));
  const wanted = installed.go(['list', '-deps', '-f', '{{if not .Standard}}{{.ImportPath}}{{end}}', GO_MODULE]);
  t.is(wanted.trim(), GO_MODULE);
  const files = filesOf(['clients', 'test/support/clients'], '.go').map(({ path }) => join(ROOT, path));
  t.true(files.length > 8);
  t.is(installed.gofmt(['-l', ...files]), '');
});

test('ecosystem X18 fault 18: go vet and the tests of the client itself are clean', (t) => {
  const cwd = join(ROOT, 'clients/go');
  t.is(installed.go(['vet', '.'], { cwd }), '');
  t.regex(installed.go(['test', '-count=1', '.'], { cwd }), /^ok /);
});

test('ecosystem X1, X8, X18 what its README shows compiles, and what is wrong does not', (t) => {
  const readme = readFileSync(
    join(installed.folder, 'modules', `${GO_MODULE}@${installed.version}`, 'README.md'),
    'utf8',
  );
  const blocks = [...readme.matchAll(/^```go\n([\s\S]*?)^```/gm)].map(([, code]) => code!);
  t.is(blocks.length, 2);
  blocks.forEach((code, at) => {
    const folder = join(installed.folder, `readme-${at}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'main.go'), code);
    t.is(installed.go(['vet', `./readme-${at}`]), '');
  });
  const folder = join(installed.folder, 'wrong');
  mkdirSync(folder);
  const calls = [
    'client.CreateAddress(ctx, flock.CreateAddressParams{Chain: "eth", UserRef: 42})',
    'client.BuildTransaction(ctx, flock.BuildTransactionParams{Chain: "eth", Amount: 1.5})',
    'client.MintLocalKey(ctx, flock.MintLocalKeyParams{Label: "a"}, flock.WithIdempotencyKey("a"))',
    'client.SyncEdge(ctx)',
  ];
  writeFileSync(
    join(folder, 'main.go'),
    `package main\n\nimport (\n\t"context"\n\n\t"flock.example/flock"\n)\n\nfunc main() {\n\tctx := context.Background()\n\tvar client flock.Client\n${calls.map((one) => `\t${one}\n`).join('')}}\n`,
  );
  const said = t.throws(() => installed.go(['build', '-o', '/dev/null', './wrong'])).message;
  for (const [at] of calls.entries()) t.regex(said, new RegExp(`main\\.go:${12 + at}:`), calls[at]);
});
