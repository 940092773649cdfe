/** Commands of those who call the service. Each loads its code when it runs: the program answers at once. X22, X26. */
import type { Command } from '../../protocol/node/commands.ts';

export const APPLICATION_COMMANDS: readonly Command[] = [
  {
    words: ['login'],
    usage: 'login --url URL [--device | --prompt] | --edge URL | --dev [--data-dir DIR]',
    does: 'keeps an address and an API key, approved in the console or read from standard input, as a profile',
    run: async (args, flags) => (await import('./login.ts')).login(args, flags),
  },
  {
    words: ['logout'],
    usage: 'logout',
    does: 'forgets a profile; its key stays good until it is revoked',
    run: async (args, flags) => (await import('./login.ts')).logout(args, flags),
  },
  {
    words: ['whoami'],
    usage: 'whoami',
    does: 'says which address and kind of key are used, and whether the service takes them',
    run: async (args, flags) => (await import('./login.ts')).whoami(args, flags),
  },
  {
    words: ['profiles'],
    usage: 'profiles',
    does: 'lists the profiles, without their keys',
    run: async (args, flags) => (await import('./login.ts')).profiles(args, flags),
  },
  {
    words: ['api'],
    usage: 'api OPERATION [--FIELD VALUE]… [--json-body FILE|-] [--all]',
    does: 'calls an operation; without one lists them. api OPERATION --help has its fields',
    run: async (args, flags) => (await import('./api.ts')).api(args, flags),
    help: async (args) => (await import('./api.ts')).helpOf(args),
  },
  {
    words: ['listen'],
    usage: 'listen [--forward-to URL] [--events E,E] [--secret-file F] [--timeout S] [--count N] | --print-secret',
    does: 'prints events as they happen and, of the sandbox, posts them signed to an address of this machine',
    run: async (args, flags) => (await import('./listen.ts')).listen(args, flags),
  },
  {
    words: ['trigger'],
    usage: 'trigger EVENT [--set NAME=VALUE]… [--cleanup]',
    does: 'makes an event happen in the sandbox; without one lists them all and what each needs',
    run: async (args, flags) => (await import('./trigger.ts')).trigger(args, flags),
  },
  {
    words: ['scenario'],
    usage: 'scenario NAME|FILE.yaml [--edge PROFILE] [--set NAME=VALUE]… [--forward-to URL]',
    does: 'plays a course of events in the sandbox and says which step was not as expected; without one lists them',
    run: async (args, flags) => (await import('./scenario.ts')).scenario(args, flags),
  },
  {
    words: ['seed'],
    usage: 'seed [--addresses N] [--days N] [--seed N] [--reset]',
    does: 'fills an empty sandbox with customers and what they paid; the same numbers make the same each time',
    run: async (args, flags) => (await import('./seed.ts')).seed(args, flags),
  },
  {
    words: ['events'],
    usage: 'events [evt_…] [--since evt_…|start] [--size N]',
    does: 'lists events in their order, the newest where no place is given; of one, its bytes',
    run: async (args, flags) => (await import('./events.ts')).events(args, flags),
  },
  {
    words: ['replay'],
    usage: 'replay evt_… [--to URL] | --from TIME --to TIME [--send]',
    does: 'delivers an event once more, or posts it to an address; of a time counts deliveries, then replays them',
    run: async (args, flags) => (await import('./events.ts')).replay(args, flags),
  },
  {
    words: ['webhooks', 'test'],
    usage: 'webhooks test WEBHOOK_ID',
    does: 'posts a test event to an endpoint with a good and a broken signature, and says whether it knows them apart',
    run: async (args, flags) => (await import('./webhook-test.ts')).webhooksTest(args, flags),
  },
  {
    words: ['logs', 'tail'],
    usage: 'logs tail [--topic T,T] [--id ID] [--count N]',
    does: 'prints what happens in the account, a line each',
    run: async (args, flags) => (await import('./logs.ts')).logsTail(args, flags),
  },
  {
    words: ['logs', 'format'],
    usage: 'logs format [--level warn] [--has NAME[=VALUE]]…',
    does: 'reads log lines of a process from standard input and prints them for people, or those that are wanted',
    run: async (args, flags) => (await import('./logs.ts')).logsFormat(args, flags),
  },
  {
    words: ['doctor'],
    usage: 'doctor [--strict] [--send]',
    does: 'looks for what keeps an application from its events and changes nothing; with --send tests each endpoint',
    run: async (args, flags) => (await import('./doctor.ts')).doctor(args, flags),
  },
  {
    words: ['release', 'verify'],
    usage: 'release verify FOLDER --key-file F',
    does: 'says whether the files of a release are whole and of its key, without a network',
    run: async (args, flags) => (await import('./release.ts')).releaseVerify(args, flags),
  },
];

/** The command that prints the words of a whole program, its own among them. */
export const completionOf = (commands: () => readonly Command[]): Command => ({
  words: ['completion'],
  usage: 'completion bash|zsh|fish',
  does: 'prints what a shell completes commands, operations and their options from',
  run: async (args, flags) => (await import('./completion.ts')).completion(args, flags, commands()),
});
