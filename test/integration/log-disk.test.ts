/** A full disk under the log of a process: the service goes on without its lines. Linux: /dev/full takes no byte. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import test from 'ava';

const LOGS = {
  edge: ['edge/process/log.ts', "createEdgeLog('info')"],
  cloud: ['gateway/telemetry/log.ts', "createLog('info', 'node')"],
} as const;

for (const [process_, [file, make]] of Object.entries(LOGS)) {
  test(`issue 4: a full disk under its log does not end the ${process_}, nor its memory, and it ends in order`, (t) => {
    const script = `
      import * as logs from ${JSON.stringify(new URL(`../../${file}`, import.meta.url).href)};
      const log = logs.${make};
      for (let line = 0; line < 20_000; line += 1) log.info('a line that nobody can keep');
      setImmediate(() => {
        log.warn('one more');
        process.stderr.write(process.memoryUsage().rss < 400e6 ? 'went on' : 'grew');
        process.exit(0);
      });`;
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
      { stdio: ['ignore', full, 'pipe'], timeout: 60_000 },
    );
    closeSync(full);
    t.deepEqual([String(stderr), status], ['went on', 0]);
  });
}
