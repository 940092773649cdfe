/** The programs of the quickstarts, as they stand in the documents, against a real cloud and edge. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { placeForGo } from '../support/clients/installed-go.ts';
import { installPython } from '../support/clients/installed-python.ts';
import { installTypescript } from '../support/clients/installed.ts';
import { openDeveloper } from '../support/developer.ts';
import { fenceOf } from '../support/fences.ts';

/** Ports that nobody has; the edge's list of receivers is made before the programs listen. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

const [tsPort, pythonPort, goPort] = await freePorts(3);
const flock = await openDeveloper({
  edgeEnv: { EDGE_WEBHOOK_ALLOWLIST: [tsPort, pythonPort, goPort].map((port) => `127.0.0.1:${port}`).join(',') },
});
test.after.always(() => flock.close());

/** What a program writes, and that it ends well. */
function run(command: string, args: readonly string[], cwd: string, port: number, env: NodeJS.ProcessEnv = {}) {
  const { edgeUrl, localApiKey } = flock.deployment;
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env, EDGE: edgeUrl, EDGE_KEY: localApiKey, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return new Promise<{ code: number | null; text: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, text })),
  );
}

/** The lines that the document shows, in whatever order; an address is another one each time. */
const linesOf = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.replace(/0x(?:…|[0-9a-fA-F]{40})/, '0x…'))
    .toSorted();

test.serial(
  'ecosystem X40, X43 the quickstart for TypeScript ends with a deposit that is verified and credited once',
  async (t) => {
    const file = 'docs/guides/quickstart-typescript.md';
    const place = installTypescript();
    t.teardown(() => place.remove());
    writeFileSync(join(place.folder, 'app.mjs'), fenceOf(file, 'js'));
    const { code, text } = await run(process.execPath, ['app.mjs'], place.folder, tsPort!);
    t.is(code, 0, text);
    t.deepEqual(linesOf(text), linesOf(fenceOf(file, 'text')));
  },
);

test.serial(
  'ecosystem X40, X43 the quickstart for Python ends with a deposit that is verified and credited once',
  async (t) => {
    const file = 'docs/guides/quickstart-python.md';
    const place = installPython();
    t.teardown(() => place.remove());
    writeFileSync(join(place.folder, 'app.py'), fenceOf(file, 'python'));
    const { code, text } = await run('python3', ['-u', 'app.py'], place.folder, pythonPort!, place.driver.env);
    t.is(code, 0, text);
    t.deepEqual(linesOf(text), linesOf(fenceOf(file, 'text')));
  },
);

test.serial(
  'ecosystem X40, X43 the quickstart for Go ends with a deposit that is verified and credited once',
  async (t) => {
    const file = 'docs/guides/quickstart-go.md';
    const place = placeForGo();
    t.teardown(() => place.remove());
    writeFileSync(join(place.folder, 'app.go'), fenceOf(file, 'go'));
    const program = join(place.folder, 'app');
    place.go(['build', '-o', program, 'app.go']);
    const { code, text } = await run(program, [], place.folder, goPort!);
    t.is(code, 0, text);
    t.deepEqual(linesOf(text), linesOf(fenceOf(file, 'text')));
  },
);
