/** What shells complete from: asked as a shell does, by the shells that are here. Ecosystem X26. */
import { execFileSync } from 'node:child_process';
import test from 'ava';
import { scriptOf } from '../../../clients/cli/completion.ts';
import { APPLICATION_COMMANDS } from '../../../clients/cli/commands.ts';
import { EVENTS } from '../../../protocol/slugs.ts';

const BYTES_MAX = 30_000;
const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** What bash offers at the end of a command line. */
function offered(...typed: string[]): string[] {
  const words = ['flock', ...typed].map((word) => `'${word}'`).join(' ');
  const script = `${scriptOf('bash', APPLICATION_COMMANDS)}
COMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _flock; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' }).split('\n').filter(Boolean);
}

test('ecosystem X26 fault 32: each file is static and has at most 30 kB', (t) => {
  for (const shell of SHELLS) {
    const script = scriptOf(shell, APPLICATION_COMMANDS);
    t.true(Buffer.byteLength(script) <= BYTES_MAX, `${shell}: ${Buffer.byteLength(script)} bytes`);
    t.notRegex(script, /npm|node |\$\(flock/, `${shell} runs nothing of the program`);
    t.is(script, scriptOf(shell, APPLICATION_COMMANDS));
  }
});

test('ecosystem X26 bash completes commands, their second words, operations, options, values and events', (t) => {
  t.deepEqual(offered('log'), ['login', 'logout', 'logs']);
  t.deepEqual(offered('logs', 't'), ['tail']);
  t.deepEqual(offered('webhooks', ''), ['test', '--help', '--json', '--quiet', '--profile']);
  t.deepEqual(offered('api', 'createAdd'), ['createAddress']);
  t.true(offered('api', 'createAddress', '--').includes('--user-ref'));
  t.deepEqual(offered('api', 'createAddress', '--chain', 's'), ['sol']);
  t.deepEqual(offered('trigger', ''), [...EVENTS, '--set', '--cleanup', '--help', '--json', '--quiet', '--profile']);
  t.true(offered('doctor', '--s').includes('--send'));
  t.deepEqual(offered('nothing', ''), []);
});
