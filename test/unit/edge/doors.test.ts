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
    '--trace-event-categories=node.http',
    '--experimental-config-file=node.config.json',
    '--experimental-default-config-file',
  ]) {
    t.is(openDoors([option], {}).length, 1, option);
    t.is(openDoors([], { NODE_OPTIONS: `--no-warnings "${option}"` }).length, 1, option);
    const spelled = [...option].map((letter, at) => (at > 2 && /[a-z]/.test(letter) ? `\\${letter}` : letter)).join('');
    t.is(openDoors([], { NODE_OPTIONS: `"${spelled}"` }).length, 1, spelled);
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

test('found F9 an inspector that listens is a door, whatever opened it; one that has a name is named once', (t) => {
  t.regex(openDoors([], {}, true).join(), /^inspector: /);
  t.deepEqual(
    openDoors(['--inspect'], {}, true).map((door) => door.split(':')[0]),
    ['--inspect'],
  );
  t.deepEqual(openDoors([], {}), [], 'this process has none');
});
