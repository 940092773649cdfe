/** P5: how long until `npm start` serves, and an edge alone. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDeployment } from '../developer/deployment.ts';
import { median, type Figure } from './figure.ts';

const RUNS = 3;
const START = fileURLToPath(new URL('../developer/start.ts', import.meta.url));
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));

/** Seconds from the command to the line that says it is ready. */
async function startOnce(dataDir: string): Promise<number> {
  const at = performance.now();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', START, '--data-dir', dataDir], {
    env: { ...process.env, CLOUD_PORT: '0', EDGE_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const seconds = await new Promise<number>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('Ready in')) resolve((performance.now() - at) / 1_000);
    });
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}`)));
  });
  child.removeAllListeners('exit');
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
  return seconds;
}

async function main(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'flock-bench-'));
  try {
    const first: number[] = [],
      again: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const dataDir = join(root, String(run));
      first.push(await startOnce(dataDir));
      again.push(await startOnce(dataDir));
    }
    const limit = { limit: 10, unit: 's', better: 'lower' as const, goal: 1 };
    emit({
      id: 'P5a',
      what: '`npm start` ready, empty data directory',
      ours: median(first),
      ...limit,
      note: 'initdb, migrations, seed, cloud, edge; the limit is the goal',
    });
    emit({
      id: 'P5b',
      what: '`npm start` ready, with data',
      ours: median(again),
      ...limit,
      note: 'the limit is the goal',
    });
    const deployment = await startDeployment({
      dataDir: join(root, 'edge'),
      cloudPort: 0,
      edgePort: 0,
      environment: 'sandbox',
      log: () => undefined,
    });
    const edges: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      await deployment.edge.stop();
      const at = performance.now();
      await deployment.restartEdge();
      edges.push((performance.now() - at) / 1_000);
    }
    await deployment.stop();
    emit({
      id: 'P5c',
      what: 'an edge from process start to registered',
      ours: median(edges),
      limit: 2,
      unit: 's',
      better: 'lower',
      goal: 1,
      note: 'resume of an enrolled edge, SDK loading included; the limit is the goal',
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

await main();
