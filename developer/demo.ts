/**
 * `npm run demo`: the main job, end to end, on real parts and nothing but npm. PostgreSQL, a cloud node, a live edge, a
 * real EVM node (anvil; what `--chain` plays on else is a stand-in), a customer application with a webhook receiver.
 * Every step checks what it claims; exit 0 only if every check held; nothing is left running.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CHAINS, type Chain } from '../protocol/slugs.ts';
import { createClient } from '../protocol/client.ts';
import { startReceiver } from '../gateway/cli/webhook-receiver.ts';
import { startDeployment } from './deployment.ts';
import { nodesOf as playedOn, openStage } from './demo-chain.ts';
import type { Stage } from './demo-stage.ts';
import { nodesOf } from './options.ts';
import { whenNpmIsGone } from './npm-parent.ts';
import { runStory } from './demo-story.ts';
import { showTakeover } from './demo-takeover.ts';
import { freePort } from './ports.ts';

/** The whole demo, in milliseconds; a hang is a failure. */
const DEMO_LIMIT_MS = 180_000;
const DEMO_USAGE = `usage: npm run demo -- [--chain ${CHAINS.join('|')}] [--nodes N]`;
/** With several nodes one is killed, and its accounts are others' after this time. */
const LEASE_SECONDS = 3;
/** Shown of each log when a check fails. */
const LOG_LINES = 15;

function optionsOf(args: readonly string[]): { chain: Chain; nodes: number } {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: { chain: { type: 'string', default: 'eth' }, nodes: { type: 'string', default: '1' } },
  });
  const chain = CHAINS.find((slug) => slug === values.chain);
  if (chain === undefined) throw new RangeError(`--chain must be one of ${CHAINS.join(', ')}`);
  return { chain, nodes: nodesOf(values.nodes) };
}

/** Seconds with one decimal, for people. */
const secondsSince = (startedAtMs: number): number => Math.round((performance.now() - startedAtMs) / 100) / 10;

/** Null before the part was started. */
function lastLines(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n') : null;
}

async function main(): Promise<void> {
  const { chain, nodes } = optionsOf(process.argv.slice(2));
  const startedAt = performance.now();
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-demo-'));
  const closing: (() => Promise<unknown> | unknown)[] = [() => rmSync(dataDir, { recursive: true, force: true })];
  const limit = setTimeout(() => {
    console.error(`\nThe demo did not finish within ${DEMO_LIMIT_MS / 1_000} s.`);
    void closeAll().finally(() => process.exit(1));
  }, DEMO_LIMIT_MS);
  let closed: Promise<void> | null = null;
  const closeAll = (): Promise<void> =>
    (closed ??= (async () => {
      for (const close of closing.reverse()) await close();
    })());
  const leave = (): void => {
    void closeAll().finally(() => process.exit(130));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, leave);
  whenNpmIsGone(leave);
  try {
    console.log(
      `Flock demo on ${chain}: starting PostgreSQL, ${nodes === 1 ? 'a cloud node' : `${nodes} cloud nodes`}, an edge, ${playedOn(chain)} and an application.`,
    );
    const stage: Stage = await openStage(chain);
    closing.push(() => stage.close());
    const receiver = await startReceiver();
    closing.push(() => receiver.close());
    const starting = startDeployment({
      dataDir,
      cloudPort: await freePort(),
      edgePort: await freePort(),
      environment: 'live',
      nodes,
      leaseSeconds: LEASE_SECONDS,
      log: () => undefined,
      cloudEnv: stage.cloudEnv,
      edgeEnv: { EDGE_WEBHOOK_ALLOWLIST: `127.0.0.1:${receiver.port}`, ...stage.edgeEnv },
    });
    closing.push(() =>
      starting.then(
        (started) => started.stop(),
        () => undefined,
      ),
    );
    const deployment = await starting;
    const client = createClient({ baseUrl: deployment.edgeUrl, apiKey: deployment.localApiKey });
    console.log(
      `Everything is up after ${secondsSince(startedAt)} s: cloud ${deployment.cloudUrl}, edge ${deployment.edgeUrl}\n`,
    );
    const say = (line: string): void => console.log(line);
    if (deployment.fleet !== null) say(`${nodes} nodes, with ${deployment.fleet.words}.`);
    await runStory({ chain, stage, client, receiver, say });
    if (deployment.fleet !== null) await showTakeover({ chain, stage, client, receiver, say }, deployment);
    console.log(`\nEvery check held. ${secondsSince(startedAt)} s in all.`);
  } catch (error) {
    for (const part of ['cloud', 'edge']) {
      const lines = lastLines(join(dataDir, `${part}.log`));
      console.error(
        lines === null
          ? `\nThe ${part} was not started.`
          : lines === ''
            ? `\nThe ${part} logged nothing.`
            : `\nLast lines of the ${part}:\n${lines}`,
      );
    }
    throw error;
  } finally {
    clearTimeout(limit);
    await closeAll();
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    // A wrong option needs no stack; a check that did not hold does.
    const { code, message, stack } = error as { code?: string; message?: string; stack?: string };
    const plain = error instanceof RangeError || code?.startsWith('ERR_PARSE_ARGS') === true;
    console.error(`\nThe demo failed: ${(plain ? message : stack) ?? String(error)}${plain ? `\n${DEMO_USAGE}` : ''}`);
    process.exit(1);
  },
);
