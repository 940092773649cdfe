/** Account actors, wherever they live: messages go to the owner's mailbox. */
import type { AccountCommand } from '../model/account/capabilities.ts';
import type { Accounts, Answer } from '../model/ports/accounts.ts';
import type { ReadStore } from '../model/ports/read-store.ts';
import { withBigints } from '../protocol/bigint-json.ts';
import type { AccountId } from '../protocol/ids.ts';
import { isRefusal } from '../protocol/errors.ts';
import { shardOf } from '../protocol/node/ids.ts';
import { MOVED, UNKNOWN, type Operation } from './listener.ts';
import type { Membership } from './membership.ts';
import { unrouted, type Router } from './router.ts';

export const ASK_PATH = '/accounts/ask';
export const WAKE_PATH = '/accounts/wake';

/** What a repetition after an unknown outcome does no harm with: it changes nothing, or comes to the same state. */
const REPEATABLE: ReadonlySet<AccountCommand['type']> = new Set([
  'inspect',
  'apply_facts',
  'enrol',
  'resume',
  'resync',
  'claim_lease',
  'release_lease',
  'note_liveness',
  'note_peak',
  'push_pool',
  'settle_band',
  'expire_builds',
  'begin_submit',
  'note_broadcast',
]);

/** Reasons of an actor's SERVICE_UNAVAILABLE with which nothing was done, and which a handover has. */
const MOVING = ['stopping', 'load_failed', 'stale_owner'];

/** The account left while the command was at work: its last append may count. */
const ABANDONED = 'abandoned';

interface AskMessage {
  readonly accountId: AccountId;
  readonly command: AccountCommand;
}

export interface ClusterAccountsDeps {
  readonly local: Accounts;
  readonly membership: Pick<Membership, 'serves' | 'stillOwns'>;
  readonly router: Router;
  readonly reads: Pick<ReadStore, 'idempotent'>;
  /** Of the calls that this node forwards; never the same again. */
  readonly newCallId: () => string;
}

/** The port for every room of this node, and what other nodes may ask of it. */
export function createClusterAccounts({ local, membership, router, reads, newCallId }: ClusterAccountsDeps): {
  readonly accounts: Accounts;
  readonly operations: Readonly<Record<string, Operation>>;
} {
  const askHere = async <C extends AccountCommand>(
    accountId: AccountId,
    command: C,
  ): Promise<Answer<C> | typeof MOVED | typeof UNKNOWN> => {
    const shard = shardOf(accountId);
    if (!membership.serves(shard)) return MOVED;
    const answer = await local.ask(accountId, command);
    if (wasTurnedAway(answer, [ABANDONED]))
      return REPEATABLE.has(command.type) || command.idempotency !== undefined ? UNKNOWN : unrouted('unanswered');
    return wasTurnedAway(answer, MOVING) && !(await membership.stillOwns(shard)) ? MOVED : answer;
  };
  const wakeHere = async (accountId: AccountId): Promise<true | typeof MOVED> => {
    if (!membership.serves(shardOf(accountId))) return MOVED;
    await local.wake(accountId);
    return true;
  };

  /** The answer under the key of a call: an earlier try did it, and its answer was lost with its node. */
  async function answerOfCall<C extends AccountCommand>(
    accountId: AccountId,
    { type }: C,
    callId: string,
  ): Promise<Answer<C>> {
    const row = await reads.idempotent(accountId, CALL, type, callId);
    return row === null ? unrouted('unanswered') : ({ ok: true, reply: withBigints(row.body) } as Answer<C>);
  }

  return {
    accounts: {
      async ask(accountId, command) {
        const isGuarded = !REPEATABLE.has(command.type) && command.idempotency === undefined;
        const callId = newCallId();
        const sent = isGuarded ? { ...command, idempotency: claimOf(command.type, callId) } : command;
        const routed = await router.route<Answer<typeof command>>(accountId, {
          path: ASK_PATH,
          message: { accountId, command: sent } satisfies AskMessage,
          once: !REPEATABLE.has(command.type),
          // Where no other node may have done it, a key of the call would be a row for nothing.
          local: (isDoubtful) => askHere(accountId, isDoubtful ? sent : command),
        });
        if (routed.kind !== 'done') return unrouted(routed.kind);
        if (routed.reply.ok === 'duplicate' && isGuarded) return answerOfCall(accountId, command, callId);
        return routed.reply;
      },
      async wake(accountId) {
        await router.route(accountId, { path: WAKE_PATH, message: { accountId }, local: () => wakeHere(accountId) });
      },
    },
    operations: {
      async [ASK_PATH]({ accountId, command }: AskMessage) {
        const answer = await askHere(accountId, command);
        // Without an answer the caller asks once more, under its key.
        if (answer === UNKNOWN) throw new Error('the account left this node while it was at work');
        return answer;
      },
      [WAKE_PATH]: ({ accountId }: { accountId: AccountId }) => wakeHere(accountId),
    },
  };
}

const CALL = 'CALL';

const claimOf = (type: AccountCommand['type'], key: string) => ({
  key,
  method: CALL,
  path: type,
  bodyHash: '',
  successStatus: 200,
});

const wasTurnedAway = (answer: Answer<AccountCommand>, reasons: readonly string[]): boolean =>
  isRefusal(answer) && answer.code === 'SERVICE_UNAVAILABLE' && reasons.includes(String(answer.details['reason']));
