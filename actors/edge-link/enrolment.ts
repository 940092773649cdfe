/**
 * Enrolment of an edge and rotation of its identity. Spec §3.7, §5.7.
 *
 *   cloud knows     the edge sends               answer
 *   nothing         sync                         enrolled: identity pinned, keys and pools registered
 *   nothing         resume, resync               RESYNC_REQUIRED
 *   this identity   sync with something new      keys_added
 *   this identity   sync with nothing new        ALREADY_ENROLLED
 *   this identity   resume, resync               readiness
 *   another         sync                         rotation_pending: keys held back, owner notified (the gateway answers
 *                                                EDGE_SIGNATURE_INVALID)
 *   another         anything else                EDGE_SIGNATURE_INVALID
 *   a rotation      anything                     IDENTITY_ROTATION_PENDING
 *
 * The same phrase in live and sandbox gives the same identity; only the store sees both accounts, so it refuses the
 * `identity` row with CROSS_ENVIRONMENT_IDENTITY (I20) and the append answers that.
 */
import { parseXpub } from '../../chains/secp256k1.ts';
import { isRefusal, notFound, type Refusal, refuse } from '../../protocol/errors.ts';
import type { AccountEvent, EdgeLinkSees, RowWrite } from '../../model/account/capabilities.ts';
import type { Family } from '../../protocol/slugs.ts';
import {
  accept,
  firstRefusal,
  type AccountDecision,
  type ChainBook,
  type Deciding,
  foldOf,
} from '../account/decision.ts';
import { eventIdAt, publish } from '../account/events-body.ts';
import { chainOf, ownAddresses, type OwnAddressIds } from '../address/own-addresses.ts';
import { planPool } from '../address/pools.ts';
import { pinnedIdentity, rotationPending, suspended } from '../account/guards.ts';
import { readinessViews } from './readiness.ts';
import { fingerprintOf } from './retired-identities.ts';
import { addressFolds } from '../address/evolve.ts';
import { edgeLinkFolds } from './evolve.ts';
import type { PushedPool } from '../../model/account/address.ts';
import type { AccountKey, PushedKey } from '../../model/account/edge-link.ts';

type Keys = Partial<Record<Family, AccountKey>>;

/** Readiness for an edge that comes back. Refuses: as `pinnedIdentity`. */
export function resume({ state, command }: Deciding<'resume'> | Deciding<'resync'>): AccountDecision<'resume'> {
  return pinnedIdentity(state, command.publicKey) ?? accept({ readiness: readinessViews(state) });
}

/**
 * Full sync: see the table above.
 * Refuses: KEY_MATERIAL_REJECTED, IDENTITY_ROTATION_PENDING, ACCOUNT_SUSPENDED, INVALID_INPUT, INVALID_ADDRESS,
 * KEY_SOURCE_MISMATCH, ALREADY_ENROLLED.
 */
export function enrol({ state, command, book, nowMs }: Deciding<'enrol'>): AccountDecision<'enrol'> {
  const no = firstRefusal(rotationPending(state), suspended(state));
  if (no !== null) return no;
  const keys = readKeys(command.keys, book);
  if (isRefusal(keys)) return keys;
  const { enrolment } = state;
  if (enrolment !== null && enrolment.publicKey !== command.publicKey) {
    return detectRotation(state, command, keys, nowMs);
  }
  const changed = (Object.entries(keys) as [Family, AccountKey][]).find(
    ([family, { xpub }]) => enrolment?.keys[family] !== undefined && enrolment.keys[family].xpub !== xpub,
  );
  if (changed !== undefined) {
    return refuse('KEY_SOURCE_MISMATCH', { family: changed[0], reason: 'another extended key is registered' });
  }
  const added = Object.fromEntries(
    Object.entries(keys).filter(([family]) => enrolment?.keys[family as Family] === undefined),
  ) as Keys;
  return register(state, command, { added, book, nowMs });
}

function register(
  state: EdgeLinkSees,
  command: { publicKey: string; pools: PushedPool[]; addressIds: string[] },
  { added, book, nowMs }: { added: Keys; book: ChainBook; nowMs: number },
): AccountDecision<'enrol'> {
  const ids: OwnAddressIds = command.addressIds[Symbol.iterator]();
  const first = state.enrolment === null;
  const events: AccountEvent[] = [];
  const rows: RowWrite[] = [...keyRows(added, 'active'), ...ownAddresses(state, book, added, ids, nowMs)];
  if (first) {
    events.push({ type: 'edge_enrolled', enrolment: { publicKey: command.publicKey, keys: added } });
    rows.unshift(identityRow(command.publicKey));
  } else if (Object.keys(added).length > 0) events.push({ type: 'keys_added', keys: added });
  for (const pushed of command.pools) {
    const plan = planPool(state, pushed, book, ids, nowMs);
    if (isRefusal(plan)) return plan;
    if (plan.event !== null) events.push(plan.event);
    rows.push(...plan.rows);
  }
  if (events.length === 0) return refuse('ALREADY_ENROLLED');
  const readiness = readinessViews(afterwards(state, events));
  return accept({ outcome: first ? 'enrolled' : 'keys_added', readiness }, events, rows);
}

/** What readiness is made of after these events. */
function afterwards(state: EdgeLinkSees, events: readonly AccountEvent[]): EdgeLinkSees {
  return events.reduce(
    (before, event) => ({ ...before, ...foldOf(edgeLinkFolds, before, event), ...foldOf(addressFolds, before, event) }),
    state,
  );
}

/** Another identity than the pinned one: its keys are held back and every endpoint is notified. Spec §5.7. */
function detectRotation(
  state: EdgeLinkSees,
  { rotationId, publicKey }: { rotationId: string; publicKey: string },
  keys: Keys,
  nowMs: number,
): AccountDecision<'enrol'> {
  const event: AccountEvent = { type: 'rotation_detected', id: rotationId, publicKey, keys, atMs: nowMs };
  const published = publish(state, {
    event: 'identity_rotation_detected',
    id: eventIdAt(state, 1, 'identity_rotation_detected'),
    toAll: true,
    confirmations: null,
    threshold: null,
    atMs: nowMs + state.aheadMs,
    orderKey: '',
    data: {
      rotationId,
      pinnedIdentity: fingerprintOf(state.enrolment!.publicKey),
      newIdentity: fingerprintOf(publicKey),
    },
  });
  const readiness = readinessViews(afterwards(state, [event]));
  return accept({ outcome: 'rotation_pending', readiness }, [event], [...keyRows(keys, 'held'), published]);
}

/** The owner's word on a rotation. Refuses: NOT_FOUND. Spec §3.1. */
export function decideRotation({
  state,
  command,
  book,
  nowMs,
}: Deciding<'decide_rotation'>): AccountDecision<'decide_rotation'> {
  const { rotation } = state;
  if (rotation === null || rotation.id !== command.rotationId) {
    return notFound('rotation', command.rotationId, { rotationId: command.rotationId });
  }
  const { id } = rotation,
    byUser = command.byUser;
  const event: AccountEvent =
    command.decision === 'approve'
      ? { type: 'rotation_approved', id, byUser, atMs: nowMs }
      : { type: 'rotation_rejected', id, byUser };
  const rows: RowWrite[] =
    command.decision === 'reject'
      ? keyRows(rotation.keys, 'retired')
      : [
          identityRow(rotation.publicKey),
          ...keyRows(state.enrolment?.keys ?? {}, 'retired'),
          ...keyRows(rotation.keys, 'active'),
          { table: 'payments_retired' },
          ...ownAddresses(state, book, rotation.keys, command.addressIds[Symbol.iterator](), nowMs),
        ];
  return accept({ readiness: readinessViews(afterwards(state, [event])) }, [event], rows);
}

/**
 * Pushed keys by family. Refuses: INVALID_INPUT (pooled family, repeated family, foreign path, bad key),
 * KEY_MATERIAL_REJECTED.
 */
function readKeys(pushed: readonly PushedKey[], book: ChainBook): Keys | Refusal {
  const keys: Keys = {};
  for (const { family, xpub, accountPath } of pushed) {
    const chain = chainOf(family),
      network = book.network(chain),
      { derivation } = book.facts(chain);
    const wrong = (reason: string) => refuse('INVALID_INPUT', { field: 'keys', family, reason });
    if (derivation.kind !== 'xpub') return wrong('this family has no extended public key');
    if (keys[family] !== undefined) return wrong('given twice');
    if (accountPath !== network.accountPath) return wrong(`account path must be ${network.accountPath}`);
    const key = parseXpub(xpub);
    if (!key.ok) return key;
    keys[family] = { xpub: key.xpub, accountPath, fingerprint: fingerprintOf(key.xpub) };
  }
  return keys;
}

function keyRows(keys: Keys, status: 'active' | 'held' | 'retired'): RowWrite[] {
  return (Object.entries(keys) as [Family, AccountKey][]).map(([family, key]) => ({
    table: 'account_keys',
    row: { family, ...key, status },
    key: `${family}/${key.fingerprint}`,
  }));
}

/** An account pins one identity. */
const identityRow = (publicKey: string): RowWrite => ({ table: 'identities', row: { publicKey }, key: '' });
