/**
 * Statements of the edge about addresses of payers: kept where they verify against the pinned identity and the cloud's
 * own derivation, served with the payment, and made by nobody here. payments E4, E5.
 */
import { createHash } from 'node:crypto';
import { presentFrom } from '../../../actors/edge-link/retired-identities.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import type { AccountState } from '../../../model/account/capabilities.ts';
import type { AttestationRow } from '../../../model/ports/payment-store.ts';
import {
  ATTESTATION_MS_MAX,
  ATTESTATION_RENEWED_MS,
  ATTESTATION_SKEW_MS,
  ATTESTED_AHEAD,
  ATTESTED_FAMILIES,
  ATTESTED_LOW,
  attestedInstant,
  attestedText,
  type AttestedFamily,
} from '../../../protocol/attestation.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import type { AttestationsBody } from '../../../protocol/frames.ts';
import { environmentOf, type AccountId } from '../../../protocol/ids.ts';
import { isTextSignedBy } from '../../../protocol/node/http-signature.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { FAMILY_OF, type Chain, type CheckoutChain } from '../../../protocol/slugs.ts';
import { accountOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { signerOf, stateOf } from '../account-state.ts';

type Batch = NonNullable<AttestationsBody['batch']>;
type Wanted = ReplyOf<'pushAttestations'>['wanted'];
export type AttestationJson = NonNullable<ReplyOf<'getCheckoutSession'>['attestation']>;

/** One chain of a family stands for it: its addresses are those of all. */
const CHAIN_OF: Readonly<Record<AttestedFamily, Chain>> = { btc: 'btc', evm: 'eth', tron: 'tron' };
/** Deriving and verifying of one turn of the event loop. Milliseconds. */
const TURN_MS = 4;

export function attestationHandlers(deps: HandlerDeps): Pick<Handlers, 'pushAttestations'> {
  return {
    async pushAttestations(asked) {
      const accountId = accountOf(asked),
        publicKey = signerOf(asked.caller),
        { batch, renew } = asked.body;
      const known = await deps.accounts.ask(accountId, { type: 'resume', publicKey });
      if (known.ok !== true) return known;
      const state = await stateOf(deps, accountId);
      if (batch !== null) {
        const rows = await verified(accountId, state, publicKey, batch, deps.nowMs());
        if (isRefusal(rows)) return rows;
        await deps.stores.payments.keepAttestations(accountId, {
          family: batch.family,
          publicKey,
          issuedAtMs: Date.parse(batch.issuedAt),
          validUntilMs: Date.parse(batch.validUntil),
          rows,
        });
      }
      return { wanted: await wantedOf(deps, accountId, state, publicKey, renew) };
    },
  };
}

/** The statements with their addresses, as this cloud derives them. Refuses: INVALID_INPUT. */
async function verified(
  accountId: AccountId,
  { enrolment, indexes }: Pick<AccountState, 'enrolment' | 'indexes'>,
  publicKey: string,
  { family, issuedAt, validUntil, statements }: Batch,
  nowMs: number,
): Promise<AttestationRow[] | Refusal> {
  const wrong = (field: string, reason: string, more: object = {}) =>
    refuse('INVALID_INPUT', { field: `batch.${field}`, reason, ...more });
  const [from, until] = [Date.parse(issuedAt), Date.parse(validUntil)],
    isDated =
      from <= nowMs + ATTESTATION_SKEW_MS && until > nowMs && until > from && until - from <= ATTESTATION_MS_MAX;
  if (!isDated)
    return wrong('validUntil', 'the statements are not good now for 31 days at most: set the clock of the edge');
  const xpub = enrolment?.keys[family]?.xpub,
    { derivation } = factsOf(CHAIN_OF[family]),
    beyond = (indexes[family] ?? 0) + ATTESTED_AHEAD * 2;
  if (xpub === undefined || derivation.kind !== 'xpub') return wrong('family', 'no key of this family is registered');
  const rows: AttestationRow[] = [];
  let turnEndsMs = performance.now() + TURN_MS;
  for (const { index, signature } of new Map(statements.map((one) => [one.index, one])).values()) {
    if (index >= beyond) return wrong('statements', 'further ahead than anybody asked', { index });
    const { address } = derivation.deriveAddress(networkOf(CHAIN_OF[family]), xpub, 0, index);
    const text = attestedText({ environment: environmentOf(accountId), family, address, issuedAt, validUntil });
    if (!isTextSignedBy(publicKey, text, Buffer.from(signature, 'base64url')))
      return wrong('statements', 'not what the identity signed of the address at this index', { index });
    rows.push({ index, address, signature });
    if (performance.now() < turnEndsMs) continue;
    await new Promise(setImmediate);
    turnEndsMs = performance.now() + TURN_MS;
  }
  return rows;
}

const eachFamily = (of: (family: AttestedFamily) => number): Record<AttestedFamily, number> => ({
  btc: of('btc'),
  evm: of('evm'),
  tron: of('tron'),
});

/** The highest index that has a statement of the identity, from the next one to be issued on. */
async function reachOf(
  { stores: { reads } }: Pick<HandlerDeps, 'stores'>,
  accountId: AccountId,
  { enrolment, indexes }: Pick<AccountState, 'enrolment' | 'indexes'>,
  publicKey: string,
) {
  const next = eachFamily((family) => indexes[family] ?? 0);
  const reach = await reads.attestedReach(accountId, publicKey, next);
  return reach
    .filter(({ family }) => enrolment?.keys[family] !== undefined)
    .map(({ family, first, last }) => {
      // A gap at the beginning, as of an edge that was away, counts as nothing.
      const ahead = first === next[family] && last !== null ? last - first + 1 : 0;
      return { family, next: next[family], ahead };
    });
}

/** How many addresses ahead each family has a statement for. payments P23. */
export async function attestedAhead(
  deps: Pick<HandlerDeps, 'stores'>,
  accountId: AccountId,
  state: Pick<AccountState, 'enrolment' | 'indexes'>,
): Promise<(chain: CheckoutChain) => number> {
  if (state.enrolment === null) return () => 0;
  const reach = await reachOf(deps, accountId, state, state.enrolment.publicKey);
  return (chain) => reach.find(({ family }) => family === FAMILY_OF[chain])?.ahead ?? 0;
}

/** Nothing is asked of the edge of an account that takes no payments. payments E5. */
async function wantedOf(
  deps: HandlerDeps,
  accountId: AccountId,
  state: AccountState,
  publicKey: string,
  renew: boolean,
): Promise<Wanted> {
  if (!state.plan.paymentsActive) return [];
  const reach = await reachOf(deps, accountId, state, publicKey);
  const wanted: Wanted = reach
    .filter(({ ahead }) => ahead < ATTESTED_LOW)
    .map(({ family, next, ahead }) => ({ family, from: next + ahead, count: ATTESTED_AHEAD - ahead }));
  // After a time without an edge, and at the start, addresses were lent without one.
  if (!renew && reach.every(({ ahead }) => ahead > 0)) return wanted;
  const missing = await deps.stores.reads.unattested(accountId, {
    publicKey,
    untilMs: deps.nowMs() + ATTESTATION_RENEWED_MS,
    from: eachFamily((family) => state.indexes[family] ?? 0),
    present: eachFamily((family) => presentFrom(state, family)),
  });
  return [...wanted, ...ATTESTED_FAMILIES.flatMap((family) => rangesOf(family, missing))].slice(0, RANGES_MAX);
}

/** Ranges of one answer; the rest is asked for with the next look. */
const RANGES_MAX = 1_000;

function rangesOf(family: AttestedFamily, found: readonly { family: AttestedFamily; index: number }[]): Wanted {
  const ranges: Wanted = [];
  for (const index of found
    .filter((one) => one.family === family)
    .map((one) => one.index)
    .toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last.from + last.count === index) last.count += 1;
    else ranges.push({ family, from: index, count: 1 });
  }
  return ranges;
}

/** First 16 hex digits of SHA-256 of a key's bytes: as a page names the merchant whose key it pins. payments E9. */
export const keyFingerprintOf = (publicKey: string): string =>
  createHash('sha256').update(Buffer.from(publicKey, 'hex')).digest('hex').slice(0, 16);

/** The statement about an address that payers are shown; null where there is none that is good now. payments S22. */
export async function attestationOf(
  { stores: { reads }, nowMs }: Pick<HandlerDeps, 'nowMs'> & { stores: Pick<HandlerDeps['stores'], 'reads'> },
  accountId: AccountId,
  { chain, address, derivationPath }: { chain: CheckoutChain; address: string; derivationPath: string },
): Promise<AttestationJson | null> {
  const family = FAMILY_OF[chain] as AttestedFamily,
    index = Number(/[0-9]+$/.exec(derivationPath)?.[0] ?? Number.NaN);
  const found = await reads.attestation(accountId, { family, index, address }, nowMs());
  return found === null
    ? null
    : {
        v: 1,
        keyFingerprint: keyFingerprintOf(found.publicKey),
        issuedAt: attestedInstant(found.issuedAtMs),
        validUntil: attestedInstant(found.validUntilMs),
        signature: found.signature,
      };
}
