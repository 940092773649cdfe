import test from 'ava';
import { openDoors } from '../../../edge/process/doors.ts';

test('found F9 every door that a start leaves open is named, by option or variable and without its value', (t) => {
  t.deepEqual(
    openDoors(['--disable-warning=ExperimentalWarning', '--disable-sigusr1', '--import', './x.mjs'], {
      NODE_OPTIONS: '--max-old-space-size=512 --require ./agent.js',
      PATH: '/bin',
    }),
    [],
  );
  for (const option of [
    '--inspect',
    '--inspect=0.0.0.0:9229',
    '--inspect-brk',
    '--inspect-wait',
    '--inspect_port=1',
    '--debug-port=1',
    '--heapsnapshot-signal=SIGUSR2',
    '--heapsnapshot-near-heap-limit=3',
    '--heap-prof',
    '--report-on-signal',
    '--report-uncaught-exception',
    '--cpu-prof',
    '--abort-on-uncaught-exception',
    '--abort_on_uncaught_exception',
    '--tls-keylog=/tmp/k',
    '--trace-tls',
  ]) {
    t.is(openDoors([option], {}).length, 1, option);
    t.is(openDoors([], { NODE_OPTIONS: `--no-warnings "${option}"` }).length, 1, option);
  }
  for (const [name, value] of [
    ['NODE_DEBUG', 'http'],
    ['NODE_DEBUG_NATIVE', 'tls'],
    ['SSLKEYLOGFILE', '/tmp/CANARY'],
    ['NODE_V8_COVERAGE', '/tmp/CANARY'],
    ['NODE_TLS_REJECT_UNAUTHORIZED', '0'],
  ] as const) {
    const doors = openDoors([], { [name]: value });
    t.true(doors.length === 1 && doors[0]!.startsWith(`${name}: `) && !doors[0]!.includes('CANARY'), name);
  }
  t.deepEqual(openDoors([], { NODE_TLS_REJECT_UNAUTHORIZED: '1', NODE_DEBUG: '' }), []);
});
