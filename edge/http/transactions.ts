/**
 * Building, repricing and broadcasting through the edge. The cloud builds; the edge decodes what was built and holds it
 * against what its caller wrote; only then is the instruction kept, and only a kept one can be broadcast.
 */
import type { Token, Unsigned } from '../../chains/chain.ts';
import { factsOf, networkOf } from '../../chains/registry.ts';
import { canonicalJson } from '../../protocol/canonical-json.ts';
import { isRefusal, otherBodyOfKey, refuse, type Refusal } from '../../protocol/errors.ts';
import { ROUTES, type BodyOf } from '../../protocol/routes.ts';
import { trustlineBody } from '../../protocol/schema/addresses.ts';
import { buildBody, type BuiltJson } from '../../protocol/schema/transactions.ts';
import { FAMILY_OF, type Family } from '../../protocol/slugs.ts';
import { validate } from '../../protocol/validation.ts';
import { plainPath } from '../../protocol/route.ts';
import { builtOf, unsignedOf } from '../signing/built-reply.ts';
import { sha256 } from '../signing/instruction-record.ts';
import type { Instructions } from '../signing/instructions.ts';
import { keepsReplayKey } from '../signing/replay-keys.ts';
import type { TokenRegistry } from '../link/token-registry.ts';
import type { EdgeLog } from '../process/log.ts';
import type { Signing } from '../signing/signing.ts';
import { isOwnBound } from '../signing/signers/fee-bounds.ts';
import { stepIn } from '../signing/signers/refusal-steps.ts';
import { refuseToSign, type Instruction } from '../signing/signers/signer.ts';
import { handedOn, handedOnWith, isPassed, type Forwarding, type Passed } from './forward.ts';
import { answered, jsonOf, refused, type EdgeAnswer, type EdgeCall, type EdgePath } from './exchange.ts';

export interface TransactionPaths {
  readonly build: EdgePath;
  readonly trustline: EdgePath;
  readonly reprice: EdgePath;
  readonly broadcast: EdgePath;
}

export interface TransactionSettings {
  readonly forwarding: Forwarding;
  readonly instructions: Instructions;
  readonly registry: TokenRegistry;
  readonly signing: Pick<Signing, 'check' | 'broadcast' | 'isGivenUp' | 'giveUp'>;
  readonly log: EdgeLog;
  /** An instruction was recorded: resolves when it may be answered for. */
  readonly shared: () => Promise<void>;
  /** A withdrawal as this edge knows it; null for one that was asked for elsewhere. */
  readonly ownTransaction: (id: string) => unknown;
  /** Null when the registration is confirmed. */
  readonly unsynced: () => string | null;
}

export function createTransactionPaths(settings: TransactionSettings): TransactionPaths {
  const { forwarding, instructions, signing, log } = settings;

  /** Passes a build on and keeps what the caller wrote (null: it was not understood) beside what came back. */
  const buildAs = async (
    call: EdgeCall,
    instruct: (reply: BuiltJson) => Instruction | Refusal | null,
  ): Promise<EdgeAnswer> => {
    const request = requestOf(call);
    const bound = request === undefined ? null : instructions.boundTo(request.key);
    if (bound !== null && bound.body !== request!.body) return refused(otherBody(call));
    const passed = await forwarding.pass(call);
    if (!isPassed(passed)) return passed;
    if (passed.envelope.error !== null) {
      const answer = handedOn(passed); // The cloud refused: of a key that was used it may deny what was built under it.
      return bound === null ? answer : { ...answer, about: bound.transactionId };
    }
    const reply = builtOf(passed.envelope.data);
    const instruction = reply === null ? null : instruct(reply);
    if (reply === null || instruction === null) return suspicious(log, call, refuseToSign('malformed_build'));
    if (isRefusal(instruction)) return suspicious(log, call, instruction);
    // A second id for one key would be a second payment that the caller takes for the first.
    const holder = request === undefined ? null : instructions.boundTo(request.key),
      other = holder !== null && reply.id !== holder.transactionId ? holder.transactionId : null;
    const refusal = other === null ? null : await giveUp(call, other, reply);
    if (refusal !== null) return refusal;
    // Nothing is kept for a caller that is gone: it never saw the id, and will ask again.
    if (call.isGone()) return refused(callerGone(call));
    if (request === undefined) return handOn(call, passed, reply, instruction);
    const known = instructions.get(other ?? reply.id)?.instruction.request;
    const supersedes = known?.key === request.key ? [...(known.supersedes ?? [])] : [];
    if (other !== null) supersedes.push(other);
    const asked = supersedes.length === 0 ? request : { ...request, supersedes };
    return handOn(call, passed, reply, { ...instruction, request: asked });
  };

  /**
   * Null where the build that holds the key is given up for this one. Refused where another replica might sign it
   * unknown to this one; an alarm where it may be signed, or is not called expired.
   */
  const giveUp = async (call: EdgeCall, expected: string, reply: BuiltJson): Promise<EdgeAnswer | null> => {
    const found = reply.id;
    if (instructions.get(found) !== null) return suspicious(log, call, refuseToSign('id_used_before'));
    if (!(await signing.isGivenUp(expected))) return suspicious(log, call, ofAnotherId(expected, found));
    const isGivenUp = await signing.giveUp(expected, unsignedOf(reply.unsigned));
    if (isRefusal(isGivenUp)) return refused(isGivenUp);
    if (isGivenUp) return null;
    log.warn('key_of_expired_build', { requestId: call.requestId, transactionId: expected });
    return refused(
      refuse(
        'CONFLICT',
        {
          reason: 'idempotency_key_of_expired_build',
          expected,
          found,
          status: 'expired',
          setting: 'EDGE_SPEND_LEDGER',
          next: 'build it again under another Idempotency-Key, with the same paymentRef; with an EDGE_SPEND_LEDGER the edge gives the key to the newer build itself',
        },
        'the build of this Idempotency-Key expired unsigned, but another replica of this edge might still sign it: the key stays with that build for 24 hours',
      ),
    );
  };

  const callerGone = ({ requestId }: EdgeCall): Refusal => {
    log.warn('caller_gone', { requestId });
    return refuse('UPSTREAM_UNAVAILABLE', { reason: 'caller_gone' });
  };

  const build: EdgePath = (call) => {
    const asked = buildBody.safeParse(jsonOf(call.body));
    const conflict = asked.success ? tagConflict(asked.data) : null;
    return conflict === null
      ? buildAs(call, (reply) => (asked.success ? instructionOf(settings.registry, asked.data, reply) : null))
      : refused(conflict);
  };

  const trustline: EdgePath = (call) =>
    buildAs(call, (reply) => {
      const asked = trustlineBody.safeParse(jsonOf(call.body));
      return asked.success ? optInOf(settings.registry, call.params['address'] ?? '', asked.data, reply) : null;
    });

  const reprice: EdgePath = async (call) => {
    const known = instructions.get(call.params['id']!);
    if (known === null) return notAskedHere(call);
    // Two payloads that only expire could both be paid: what died is paid by a new build. The cloud says so too. found
    // F13.
    if (known.unsigned.replayKey.kind === 'expiry' && instructions.mayBeSigned(known.instruction.id))
      return refused(signedAndExpires(instructions, known.instruction.id));
    const passed = await forwarding.pass(call);
    if (!isPassed(passed)) return passed;
    if (passed.envelope.error !== null) return handedOn(passed);
    const reply = builtOf(passed.envelope.data);
    if (reply === null || reply.id !== known.instruction.id)
      return suspicious(log, call, refuseToSign('malformed_build'));
    const refusal = checkRepriced(known.unsigned, unsignedOf(reply.unsigned));
    return refusal === null ? handOn(call, passed, reply, known.instruction) : suspicious(log, call, refusal);
  };

  /** Keeps a build whose every field holds, and answers with it. */
  const handOn = async (
    call: EdgeCall,
    passed: Passed,
    reply: BuiltJson,
    instruction: Instruction,
  ): Promise<EdgeAnswer> => {
    const summary = checkSummary(instruction, reply);
    if (summary !== null) return suspicious(log, call, summary);
    const checked = await forwarding.check(call, passed.envelope.data);
    if (checked.refusal !== null)
      return suspicious(log, call, refuseToSign('false_answer', { found: checked.refusal.details['field'] }));
    const refusal = await keep(instruction, reply, call);
    return refusal === null ? handedOnWith(passed, checked) : suspicious(log, call, refusal);
  };

  /** Reads what is not to be changed: the cloud says that it is not there, or it is not this edge's to reprice. */
  const notAskedHere: EdgePath = async (call) => {
    const { id = '' } = call.params;
    const answer = await forwarding.pass({
      ...call,
      route: { ...ROUTES.getTransaction, operationId: 'getTransaction' },
      pathAndQuery: `/v1/transactions/${encodeURIComponent(id)}`,
      headers: {},
      body: Buffer.alloc(0),
    });
    if (!isPassed(answer)) return answer;
    return answer.envelope.error === null ? refused(refuseToSign('no_instruction')) : handedOn(answer);
  };

  const broadcast: EdgePath = async (call) => {
    const unsynced = settings.unsynced();
    if (unsynced !== null) return refused(refuse('EDGE_NOT_SYNCED', { reason: unsynced }));
    const named = validate(
      { params: ROUTES.broadcastTransaction.params },
      { params: call.params, query: {}, body: undefined },
    );
    if (isRefusal(named)) return refused(named); // what is no id is asked of nobody
    const submitted = await signing.broadcast(call.params['id']!);
    if (isRefusal(submitted)) return refused(submitted);
    const { data, refusal, unsaid } = await forwarding.check(call, submitted);
    if (refusal === null) return { ...answered(data), unsaid };
    const own = settings.ownTransaction(call.params['id']!);
    return own === null ? refused(refusal) : answered(own);
  };

  const keep = async (instruction: Instruction, reply: BuiltJson, call: EdgeCall): Promise<Refusal | null> => {
    const recorded = { instruction, unsigned: unsignedOf(reply.unsigned) };
    const refusal = await signing.check(recorded);
    if (refusal !== null) return refusal;
    if (call.isGone()) return callerGone(call);
    // Another build under the same key may have been answered since this one was asked for.
    const { id, request } = instruction,
      bound = request === undefined || instructions.get(id) !== null ? null : instructions.boundTo(request.key);
    if (bound !== null && bound.body !== request!.body) return otherBody(call);
    const isGivenUp = bound !== null && request?.supersedes?.includes(bound.transactionId) === true;
    if (bound !== null && bound.transactionId !== id && !isGivenUp) return ofAnotherId(bound.transactionId, id);
    if (!instructions.record(recorded)) return refuseToSign('id_used_before');
    await settings.shared();
    return null;
  };

  return { build, trustline, reprice, broadcast };
}

function suspicious(log: EdgeLog, call: EdgeCall, refusal: Refusal): EdgeAnswer {
  const facts = {
    requestId: call.requestId,
    code: refusal.code,
    reason: String(refusal.details['reason'] ?? ''),
    ...stepIn(refusal),
  };
  // a dear market, or a contract that burns gas: nobody lied
  if (isOwnBound(refusal)) log.warn('build_above_bound', facts);
  else log.alarm('build_refused', facts);
  return refused(refusal);
}

function ofAnotherId(expected: string, found: string): Refusal {
  return refuseToSign('idempotency_key_of_another_id', { expected, found });
}

function signedAndExpires(instructions: Instructions, id: string): Refusal {
  const txids = instructions.signaturesOf(id).flatMap(({ signed }) => (signed === null ? [] : [signed.txid]));
  return refuse(
    'CONFLICT',
    { reason: 'signed_payload_only_expires', signed: true, ...(txids.length === 0 ? {} : { txids }) },
    'a signed payment of this chain is not repriced: wait until it has expired, look for its txid, then build a new one',
  );
}

/** Refuses INVALID_INPUT for a destination whose own text names another tag than `chainTag`, as the cloud does. */
function tagConflict({ chain, to, chainTag }: BodyOf<'buildTransaction'>): Refusal | null {
  const parsed = factsOf(chain).parseAddress(networkOf(chain), to);
  if (isRefusal(parsed) || parsed.tag === null || chainTag == null || chainTag === parsed.tag) return null;
  return refuse('INVALID_INPUT', { field: 'chainTag', reason: 'the address names another tag' });
}

/** What the caller wrote, in canonical texts; path and id come from the cloud and are checked by the signer. */
function instructionOf(
  registry: TokenRegistry,
  asked: BodyOf<'buildTransaction'>,
  reply: BuiltJson,
): Instruction | Refusal {
  const { chain } = asked;
  const network = networkOf(chain);
  const facts = factsOf(chain);
  const from = facts.parseAddress(network, asked.from);
  const to = facts.parseAddress(network, asked.to);
  if (isRefusal(from)) return from;
  if (isRefusal(to)) return to;
  const token = asked.tokenContract == null ? null : tokenOf(registry, chain, asked.tokenContract);
  if (isRefusal(token)) return token;
  return {
    id: reply.id,
    purpose: 'withdrawal',
    chain,
    from: from.canonical,
    fromPath: reply.unsigned.fromPath,
    to: to.canonical,
    toPath: null,
    amount: asked.amount === 'all' ? 'all' : BigInt(asked.amount),
    token,
    tag: asked.chainTag ?? to.tag,
    ...counterOf(chain),
    ...(to.tag === null ? {} : { tagOfAddress: true }),
    ...(asked.paymentRef == null ? {} : { paymentRef: asked.paymentRef }),
  };
}

/** Families whose chain counts the transactions of a sender. */
const COUNTED: ReadonlySet<Family> = new Set(['evm', 'xrp', 'xlm']);

function counterOf(chain: Token['chain']): Pick<Instruction, 'counter'> {
  return COUNTED.has(FAMILY_OF[chain]) ? { counter: 'at_broadcast' } : {};
}

/**
 * What a caller's Idempotency-Key names: one path however it is spelled, as at the cloud, and one body whatever the
 * order of its names; undefined without a key.
 */
function requestOf({ headers, pathAndQuery, body }: EdgeCall): Instruction['request'] {
  const key = headers['idempotency-key'];
  return key === undefined
    ? undefined
    : {
        key: sha256(`${plainPath(pathAndQuery.split('?')[0]!)}\n${key}`),
        body: sha256(canonicalJson(jsonOf(body) ?? null)),
      };
}

const otherBody = ({ headers, route, pathAndQuery }: EdgeCall): Refusal =>
  otherBodyOfKey({ key: headers['idempotency-key'] ?? '', method: route.method, path: pathAndQuery.split('?')[0]! });

/** The opt-in of an own address to a token: nothing moves, and nobody else is named. */
function optInOf(
  registry: TokenRegistry,
  address: string,
  asked: BodyOf<'createTrustline'>,
  reply: BuiltJson,
): Instruction | Refusal {
  const { chain } = asked;
  const from = factsOf(chain).parseAddress(networkOf(chain), address);
  if (isRefusal(from)) return from;
  const token = tokenOf(registry, chain, asked.asset);
  if (isRefusal(token)) return token;
  return {
    id: reply.id,
    purpose: 'opt_in',
    chain,
    from: from.canonical,
    fromPath: reply.unsigned.fromPath,
    to: from.canonical,
    toPath: null,
    amount: 0n,
    token,
    tag: null,
    ...counterOf(chain),
  };
}

/** A token of this edge's registry: the cloud's word on decimals or contract is not asked for. */
function tokenOf(registry: TokenRegistry, chain: Token['chain'], text: string): Token | Refusal {
  const contract = factsOf(chain).parseToken(networkOf(chain), text);
  if (isRefusal(contract)) return contract;
  const deployment = registry.find(chain, contract);
  if (isRefusal(deployment)) return deployment;
  return registry.catalogueOf(chain).get(contract) ?? refuse('TOKEN_NOT_SUPPORTED', { chain, tokenContract: contract });
}

/**
 * What people read in the answer must be what is in the payload's own summary, which the signer holds to the bytes.
 */
function checkSummary(instruction: Instruction, { unsigned, ...reply }: BuiltJson): Refusal | null {
  const pairs: readonly (readonly [name: string, shown: unknown, built: unknown])[] = [
    ['chain', reply.chain, instruction.chain],
    ['from', reply.from, unsigned.from],
    ['to', reply.to, unsigned.to],
    ['amount', reply.amount, unsigned.amount],
    ['token', reply.tokenContract, unsigned.tokenContract],
    ['tag', reply.chainTag, unsigned.tag],
    ['fee', reply.feeEstimate.feeMax, unsigned.feeMax],
  ];
  const differing = pairs.find(([, shown, inPayload]) => shown !== inPayload);
  return differing === undefined
    ? null
    : refuseToSign(`summary_${differing[0]}_mismatch`, { expected: differing[2], found: differing[1] });
}

/** Decisions 6: PATCH may change fee fields, and the amount of a send-all, downwards. */
function checkRepriced(before: Unsigned, after: Unsigned): Refusal | null {
  const same =
    after.from === before.from &&
    after.fromPath === before.fromPath &&
    after.to === before.to &&
    after.tokenContract === before.tokenContract &&
    after.tag === before.tag &&
    after.kind === before.kind &&
    after.sendAll === before.sendAll;
  if (!same) return refuseToSign('repricing_changed_more_than_the_fee');
  if (!keepsReplayKey(after.replayKey, before.replayKey)) return refuseToSign('repricing_changed_the_replay_key');
  const amountOk = before.sendAll ? after.amount <= before.amount : after.amount === before.amount;
  return amountOk
    ? null
    : refuseToSign('repricing_changed_the_amount', { expected: before.amount, found: after.amount });
}
