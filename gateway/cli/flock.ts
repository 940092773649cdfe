/**
 * `npm run -s flock -- COMMAND`: commands of those who call the service (`clients/cli/`), which load nothing of the
 * cloud, and the operator's commands of the cloud. Standard output carries answers only.
 */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { APPLICATION_COMMANDS, completionOf } from '../../clients/cli/commands.ts';
import { runProgram, type Command } from '../../protocol/node/commands.ts';
import type { OperatorCommand } from './operator/commands.ts';

const COMMANDS: readonly Command[] = [
  {
    words: ['doctor', '--cloud'],
    usage: 'doctor --cloud [--strict]',
    does: 'looks at what a node of the cloud needs, with its own settings; changes nothing',
    run: async (args, flags) => (await import('./operator/doctor.ts')).cloudDoctor(args, process.env, flags),
  },
  ...APPLICATION_COMMANDS,
  completionOf(() => COMMANDS),
  {
    words: ['chain'],
    usage: 'chain --jsonl',
    does: 'answers questions about keys, addresses, blocks and signatures, one JSON line each',
    run: async (args) => (await import('./chain-jsonl.ts')).chainJsonl(args),
  },
  {
    words: ['webhooks', 'listen'],
    usage: 'webhooks listen [--port 9000] [--secret whsec_…] [--count N] [--json]',
    does: 'verifies deliveries and prints them',
    run: async (args, flags) => (await import('./webhooks-listen.ts')).webhooksListen(args, flags),
  },
  {
    words: ['audit', 'verify'],
    usage: 'audit verify --file F [--jwks F] [--checkpoint F]…',
    does: 'checks an exported audit log, its signature and earlier checkpoints, without the cloud',
    run: async (args) => (await import('./audit-verify.ts')).auditVerify(args, process.stdout, process.stderr),
  },
  {
    words: ['imports', 'read'],
    usage: 'imports read --file F [--as csv|jsonl]',
    does: 'says what an import file holds and what is wrong with it, without the cloud',
    run: async (args) => (await import('./imports-read.ts')).importsRead(args, process.stdout, process.stderr),
  },
  {
    words: ['registry', 'keygen'],
    usage: 'registry keygen --key-file F',
    does: 'makes a registry key in a new file, and shows its public half',
    run: async (args) => (await import('./registry-sign.ts')).registryKeygen(args, process.stdout, process.stderr),
  },
  {
    words: ['registry', 'sign'],
    usage: 'registry sign --key-file F --content F',
    does: 'signs a version of the token registry, without the cloud',
    run: async (args) => (await import('./registry-sign.ts')).registrySign(args, process.stdout, process.stderr),
  },
  operator(
    'users create',
    '--email E [--admin]',
    'makes a console user; the password comes from standard input or is made',
  ),
  operator(
    'organizations create',
    '--name N --owner EMAIL [--tier T] [--band B]',
    'makes a tenant with its two accounts and first owner',
  ),
  operator(
    'api-keys mint',
    '--organization ID --environment live|sandbox --label L',
    'mints an API key and shows it once',
  ),
  operator(
    'secrets reseal',
    '',
    'seals all secrets at rest again under the first key of SECRET_KEY, and gives back deliveries that were held for theirs',
  ),
  operator(
    'chains rebuild',
    '--chain C [--above HEIGHT]',
    'says where our blocks and those of the nodes part after a chain stopped; with --above takes the branch of the nodes',
  ),
];

/** A command of the cloud's operator; it works on DATABASE_URL. */
function operator(name: OperatorCommand, options: string, does: string): Command {
  return {
    words: name.split(' '),
    usage: `${name} ${options}`.trimEnd(),
    does,
    run: async (args) =>
      (await import('./operator/commands.ts')).runOperatorCommand(
        name,
        args,
        process.env,
        process.stdout,
        process.stderr,
      ),
  };
}

// A command is loaded when it runs: compiled once, it is there in a tenth of the time. X26.
enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/flock', import.meta.url)));

process.exitCode = await runProgram(
  {
    name: 'flock',
    commands: COMMANDS,
    quotesArguments: true,
    hasProfiles: true,
    keysBelong:
      'Give a key on standard input (flock login), in a file (FLOCK_API_KEY_FILE) or in a variable (FLOCK_API_KEY).',
  },
  process.argv.slice(2),
);
