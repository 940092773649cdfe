/** `npm run -s flock-edge -- COMMAND`: the operator's commands at the edge. Standard output carries answers only. */
import { openDoors } from '../process/doors.ts'; // the first line that runs
import { runProgram, type Command } from '../../protocol/node/commands.ts';
import { StorageFailed } from '../storage/failed.ts';

const COMMANDS: readonly Command[] = [
  {
    words: ['keys'],
    usage: 'keys --jsonl',
    does: 'addresses and public keys from phrases, one JSON line each',
    run: async (args) => (await import('./keys-jsonl.ts')).keysJsonl(args),
  },
  {
    words: ['local-keys'],
    usage: 'local-keys mint --label NAME | list | revoke ID',
    does: 'keys that this edge accepts from applications',
    run: async (args) =>
      (await import('./local-keys.ts')).localKeysCommand(args, process.env, process.stdout, process.stderr),
  },
  {
    words: ['phrase'],
    usage: 'phrase FILE',
    does: 'makes a recovery phrase in a new file that only its owner may read',
    run: async (args) => (await import('./phrase.ts')).phraseCommand(args, process.stdout, process.stderr),
  },
  {
    words: ['outbox'],
    usage: 'outbox list | set-aside SEQ | restore SEQ',
    does: 'writes to the cloud that wait, and one that holds them up',
    run: async (args) => (await import('./outbox.ts')).outboxCommand(args, process.env, process.stdout, process.stderr),
  },
  {
    words: ['payments'],
    usage: 'payments list | settle ID',
    does: 'signed payments that may still land, and one that you looked up on the chain',
    run: async (args) =>
      (await import('./payments.ts')).paymentsCommand(args, process.env, process.stdout, process.stderr),
  },
  {
    words: ['sweeps'],
    usage: 'sweeps stop | start | status',
    does: 'has every sweep that the cloud asks for refused, or signed again within the caps',
    run: async (args) => (await import('./sweeps.ts')).sweepsCommand(args, process.env, process.stdout, process.stderr),
  },
  {
    words: ['audit'],
    usage: 'audit show | forget',
    does: "the checkpoint of the organization's audit log that this edge keeps",
    run: async (args) => (await import('./audit.ts')).auditCommand(args, process.env, process.stdout, process.stderr),
  },
  {
    words: ['identities'],
    usage: 'identities list | add | forget FINGERPRINT',
    does: 'public keys of the former phrases whose payments this edge still relays',
    run: async (args) =>
      (await import('./identities.ts')).identitiesCommand(args, process.env, process.stdout, process.stderr),
  },
  {
    words: ['sources'],
    usage: 'sources import|list|check|detect|register|purge|rewrap',
    does: 'phrases and keys from elsewhere, in the encrypted keystore',
    run: async (args) =>
      (await import('./sources.ts')).sourcesCommand(args, process.env, process.stdout, process.stderr),
  },
  {
    words: ['doctor'],
    usage: 'doctor [--strict]',
    does: 'looks at what this edge needs, with its own settings; changes nothing',
    run: async (args, flags) => (await import('./doctor.ts')).doctorCommand(args, process.env, flags),
  },
];

/** Refuses where the process can be opened, and forbids memory dumps. */
async function before(): Promise<number | null> {
  const doors = openDoors(process.execArgv, process.env);
  if (doors.length > 0) {
    console.error(doors.join('\n'));
    return 78;
  }
  await (await import('../process/core-files.ts')).forbidDumps();
  return null;
}

try {
  process.exitCode = await runProgram(
    {
      name: 'flock-edge',
      commands: COMMANDS,
      before,
      quotesArguments: false,
      keysBelong: 'The key of the cloud is the setting API_KEY or API_KEY_FILE.',
    },
    process.argv.slice(2),
  );
} catch (error) {
  if (!(error instanceof StorageFailed)) throw error;
  console.error(`EDGE_DATA_DIR: ${error.message}. Next: ${error.next}`);
  process.exitCode = 1;
}
