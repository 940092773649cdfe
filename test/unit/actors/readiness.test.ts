/** Every transition of the table of spec §3.1, by the messages that make it and by no other. */
import test from 'ava';
import { readinessOf } from '../../../actors/edge-link/readiness.ts';
import type { AccountCommand } from '../../../model/account/capabilities.ts';
import { CHAINS, type Readiness } from '../../../protocol/slugs.ts';
import {
  commands,
  enrolled,
  IDENTITY,
  OTHER_IDENTITY,
  pushedKey,
  pushedPool,
  TestAccount,
} from '../../support/account.ts';

const ids = () => Array.from({ length: 20 }, (_, index) => `adr_${index}`);
const rotate = commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)], rotationId: 'rot_2' });
const decide = (decision: 'approve' | 'reject'): AccountCommand => ({
  type: 'decide_rotation',
  rotationId: 'rot_2',
  decision,
  byUser: 'usr_1',
  addressIds: decision === 'approve' ? ids() : [],
});
const stock = pushedPool('xlm', 10).addresses;
const issue = commands.createAddress({ chain: 'xlm', unissued: stock });
const issued = (count: number): AccountCommand[] => Array.from({ length: count }, () => issue);
const push = (size: number): AccountCommand => ({
  type: 'push_pool',
  publicKey: IDENTITY,
  pool: pushedPool('xlm', size),
  addressIds: ids(),
});
const withPool = () => enrolled({}, { keys: [pushedKey('evm')], pools: [pushedPool('xlm', 10)] });

const TRANSITIONS: readonly (readonly [
  what: string,
  begin: () => TestAccount,
  chain: 'eth' | 'xlm' | 'tron',
  steps: readonly (readonly [commands: readonly AccountCommand[], state: Readiness])[],
])[] = [
  [
    'first sync',
    () => new TestAccount(),
    'eth',
    [
      [[], 'not_ready'],
      [[commands.enrol({ keys: [pushedKey('evm')] })], 'ready'],
    ],
  ],
  [
    'a later sync brings a family',
    enrolled,
    'tron',
    [
      [[], 'not_ready'],
      [[commands.enrol({ keys: [pushedKey('evm'), pushedKey('tron')] })], 'ready'],
    ],
  ],
  [
    'a pool comes, runs low and is filled',
    () => enrolled({}, { keys: [pushedKey('evm')] }),
    'xlm',
    [
      [[], 'not_ready'],
      [[push(10)], 'ready'],
      [issued(8), 'ready'],
      [issued(1), 'pool_low'],
      [[push(20)], 'ready'],
    ],
  ],
  [
    'ready, another identity, approved',
    enrolled,
    'eth',
    [
      [[], 'ready'],
      [[rotate], 'quarantined'],
      [[decide('approve')], 'ready'],
    ],
  ],
  [
    'ready, another identity, rejected',
    enrolled,
    'eth',
    [
      [[], 'ready'],
      [[rotate], 'quarantined'],
      [[decide('reject')], 'ready'],
    ],
  ],
  [
    'pool_low, another identity, rejected: low as before',
    withPool,
    'xlm',
    [
      [issued(9), 'pool_low'],
      [[rotate], 'quarantined'],
      [[decide('reject')], 'pool_low'],
    ],
  ],
  [
    'pool_low, another identity, approved: the old pool is gone',
    withPool,
    'xlm',
    [
      [issued(9), 'pool_low'],
      [[rotate], 'quarantined'],
      [[decide('approve')], 'not_ready'],
    ],
  ],
  [
    'not_ready, another identity that brings a key',
    enrolled,
    'tron',
    [
      [[], 'not_ready'],
      [
        [
          commands.enrol({
            publicKey: OTHER_IDENTITY,
            keys: [pushedKey('evm', 1), pushedKey('tron', 1)],
            rotationId: 'rot_2',
          }),
        ],
        'quarantined',
      ],
      [[decide('approve')], 'ready'],
    ],
  ],
];

for (const [what, begin, chain, steps] of TRANSITIONS) {
  test(`§3.1 ${chain}: ${what}: ${steps.map(([, state]) => state).join(' → ')}`, (t) => {
    const account = begin();
    for (const [asked, state] of steps) {
      for (const command of asked) account.accept(command);
      t.is(readinessOf(account.state, chain), state);
    }
  });
}

test('§3.1 no other message moves a chain: lease, liveness, a resume, an address', (t) => {
  const account = enrolled();
  const before = CHAINS.map((chain) => readinessOf(account.state, chain));
  for (const command of [
    { type: 'claim_lease', sessionId: 'ses_a', liveSessions: [] },
    { type: 'note_liveness', liveness: 'live' },
    { type: 'note_liveness', liveness: 'down' },
    { type: 'resume', publicKey: IDENTITY },
    { type: 'release_lease', sessionId: 'ses_a' },
    commands.createAddress(),
  ] as AccountCommand[]) {
    account.accept(command);
    t.deepEqual(
      CHAINS.map((chain) => readinessOf(account.state, chain)),
      before,
      command.type,
    );
  }
});
