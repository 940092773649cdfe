/**
 * Every kind of write of the outbox × every refusal that the cloud may answer: what stays, in whose sight, and what
 * leaves.
 */
import test from 'ava';
import { ERRORS, refuse, type ErrorCode } from '../../../protocol/errors.ts';
import type { OutboxWrite } from '../../../edge/link/outbox.ts';
import { attemptVerdict, type Verdict } from '../../../edge/link/write-verdicts.ts';
import { isFailureWord, Submissions, type SubmissionsSettings } from '../../../edge/signing/submissions.ts';
import type { EdgeLog } from '../../../edge/process/log.ts';
import { createTimers } from '../../../edge/process/timers.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];
const WAIT: readonly ErrorCode[] = [
  'UPSTREAM_UNAVAILABLE',
  'SERVICE_UNAVAILABLE',
  'RATE_LIMIT_EXCEEDED',
  'LEASE_HELD',
  'LEASE_EPOCH_STALE',
  'EDGE_NO_LEADER',
  'EDGE_OFFLINE',
  'EDGE_NOT_SYNCED',
  'RESYNC_REQUIRED',
  'IDENTITY_ROTATION_PENDING',
];
/** The only ones that let signed bytes go. */
const DECIDED: readonly ErrorCode[] = [
  'NOT_FOUND',
  'CONFLICT',
  'SIGNED_BATCH_REJECTED',
  'CHAIN_REJECTED',
  'INSUFFICIENT_FUNDS',
  'INSUFFICIENT_GAS',
  'INSUFFICIENT_RESERVE',
  'DESTINATION_OPT_IN_REQUIRED',
  'ADDRESS_WATCH_ONLY',
  'COMPLIANCE_REJECTED',
  'AMOUNT_CAP_EXCEEDED',
];
const ALL: readonly ErrorCode[] = [
  'ACCOUNT_SUSPENDED',
  'NO_SUBSCRIPTION',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'SANDBOX_ONLY',
  'CROSS_ENVIRONMENT_IDENTITY',
  'EDGE_SIGNATURE_SKEW',
  'EDGE_SIGNATURE_INVALID',
  'EDGE_NONCE_REPLAY',
  'EDGE_VERSION_UNSUPPORTED',
  'METHOD_NOT_ALLOWED',
];
const WRITE: OutboxWrite = {
  seq: 1,
  kind: 'signed',
  lane: 'eth A',
  subject: 'txn_1/0x1',
  body: JSON.stringify({ transactionId: 'txn_1', txid: '0x1', signedPayload: '00' }),
  tries: 0,
  createdAtMs: 0,
};

function submissionsOf(code: ErrorCode, isDenialKept = true) {
  const seen: string[] = [];
  const log: EdgeLog = {
    info: () => undefined,
    warn: (event) => seen.push(event),
    alarm: (event) => seen.push(event),
    fault: () => undefined,
    alarms: 0,
  };
  const submissions = new Submissions({
    sessionId: 'ses_1',
    timers: createTimers(),
    log,
    onRefused: () => undefined,
    viaLeader: async () => refuse('EDGE_NO_LEADER'),
    upstream: { signed: { call: async () => refuse(code) } } as unknown as SubmissionsSettings['upstream'],
    lease: { view: () => ({ held: true, leaseEpoch: 1 }) } as unknown as SubmissionsSettings['lease'],
    instructions: {
      noteOutcome: (...[, , outcome]: string[]) => seen.push(`outcome ${outcome}`),
    } as unknown as SubmissionsSettings['instructions'],
    guard: {
      noteDenied: async () => seen.push('denied') > 0 && isDenialKept,
    } as unknown as SubmissionsSettings['guard'],
  });
  return { submissions, seen };
}

test('found: each refusal of a signed transaction: a decision lets it go with an alarm, all else keeps it, in sight where nothing else shows it', async (t) => {
  for (const code of CODES) {
    const { submissions, seen } = submissionsOf(code),
      answer = submissions.answerOf(WRITE.subject);
    const sent = await submissions.send([WRITE]);
    if (DECIDED.includes(code)) {
      t.deepEqual(sent, { kind: 'taken' }, code);
      t.deepEqual(
        seen,
        code === 'CONFLICT'
          ? ['submission_not_taken', 'outcome refused']
          : ['denied', 'submission_refused', 'outcome refused'],
        code,
      );
    } else {
      t.deepEqual(
        sent,
        WAIT.includes(code) ? { kind: 'held' } : { kind: 'refused', code, all: ALL.includes(code) },
        code,
      );
      t.deepEqual(seen, [], code);
    }
    submissions.stop();
    t.like(
      await answer,
      { code: code === 'UPSTREAM_UNAVAILABLE' ? 'SERVICE_UNAVAILABLE' : code, details: { signed: true } },
      code,
    );
  }
});

test('found: a decision that cannot be kept as a denial lets nothing go and is told to nobody', async (t) => {
  for (const code of DECIDED.filter(isFailureWord)) {
    const { submissions, seen } = submissionsOf(code, false),
      answer = submissions.answerOf(WRITE.subject);
    t.deepEqual(await submissions.send([WRITE]), { kind: 'held' }, code);
    t.deepEqual(seen, ['denied'], code);
    submissions.stop();
    t.like(await answer, { code: 'SERVICE_UNAVAILABLE' }, code);
  }
});

test('found: each refusal of a report of webhook attempts keeps it, in sight where nothing else shows it', (t) => {
  for (const code of [...CODES, 'SOMETHING_NEW']) {
    const verdict: Verdict = attemptVerdict(code);
    t.is(verdict, (WAIT as readonly string[]).includes(code) ? 'waits' : 'stuck', code);
  }
});
