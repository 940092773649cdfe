/** found part 2: verifications of a log that are asked for at once are few walks, each begun after its question. */
import { createHash } from 'node:crypto';
import test from 'ava';
import { auditLogHandlers } from '../../../gateway/http/audit-log/audit-log.ts';
import { Walks } from '../../../gateway/http/audit-log/walks.ts';
import type { Asked } from '../../../gateway/http/context.ts';
import type { HandlerDeps } from '../../../gateway/http/surroundings.ts';
import type { AuditEntryRow } from '../../../model/ports/audit-log-store.ts';
import { isRefusal, type Refusal } from '../../../protocol/errors.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';

const ORGANIZATIONS = ['org_a', 'org_b'] as const;

function entryAfter(organization: string, last: AuditEntryRow | null): AuditEntryRow {
  const seq = (last?.seq ?? 0) + 1,
    text = JSON.stringify({ seq, organization, action: 'login' });
  const before = last === null ? createHash('sha256').update(organization).digest() : Buffer.from(last.hash, 'hex');
  return { seq, text, hash: createHash('sha256').update(before).update(text).digest('hex') };
}

/** Logs of two organizations; pages are answered when the test says so. */
function world() {
  const logs = new Map<string, AuditEntryRow[]>(ORGANIZATIONS.map((id) => [id, []]));
  const append = (organization: string, count: number) => {
    const log = logs.get(organization)!;
    for (let n = 0; n < count; n += 1) log.push(entryAfter(organization, log.at(-1) ?? null));
  };
  for (const id of ORGANIZATIONS) append(id, 3);
  const walked: string[] = [],
    held: (() => void)[] = [];
  const deps = {
    auth: { issuer: { publicKeys: () => [], signText: () => ({ kid: 'key_1', signature: 'AA' }) } },
    stores: {
      auditLog: {
        head: async (id: string) => logs.get(id)!.at(-1)!,
        chain: async (id: string, behind: number, most: number) => {
          walked.push(id);
          const page = logs.get(id)!.filter(({ seq }) => seq > behind);
          await new Promise<void>((resolve) => held.push(resolve));
          return page.slice(0, most);
        },
      },
    },
    nowMs: () => 0,
  } as unknown as HandlerDeps;
  const handlers = auditLogHandlers(deps) as unknown as {
    verifyAuditLog(asked: Asked<'verifyAuditLog'>): Promise<ReplyOf<'verifyAuditLog'> | Refusal>;
  };
  const verify = (organizationId: string) =>
    handlers.verifyAuditLog({
      caller: { accountId: `${organizationId}_live`, environment: 'live', bearer: { organizationId } },
      body: {},
    } as unknown as Asked<'verifyAuditLog'>);
  const turn = async () => {
    for (let n = 0; n < 20; n += 1) await new Promise(setImmediate);
  };
  const answered = async <A>(asked: Promise<A>): Promise<A> => {
    let isDone = false;
    const done = asked.finally(() => (isDone = true));
    while (!isDone) {
      held.shift()?.();
      await new Promise(setImmediate);
    }
    return done;
  };
  return { append, logs, walked, verify, turn, answered };
}

test('found: twenty verifications at once are one walk, and those that come meanwhile one more, of the log as it is then', async (t) => {
  const { append, walked, verify, turn, answered } = world();
  const first = Array.from({ length: 20 }, () => verify('org_a'));
  await turn();
  append('org_a', 2);
  const later = Array.from({ length: 20 }, () => verify('org_a'));
  await turn();
  t.is(walked.length, 1, 'one after the other');
  const answers = await answered(Promise.all([...first, ...later]));
  t.is(walked.length, 2);
  const seqs = answers.map((answer) => (isRefusal(answer) ? null : answer.checkpoint.seq));
  t.deepEqual(new Set(seqs.slice(0, 20)), new Set([3]));
  t.deepEqual(new Set(seqs.slice(20)), new Set([5]));
  t.true(answers.every((answer) => !isRefusal(answer) && answer.ok));
});

test('found: other questions take turns, and beyond four that wait they are asked to come again', async (t) => {
  const walks = new Walks<string>(),
    begun: string[] = [];
  let end: () => void = () => undefined;
  const walkOf = (question: string) =>
    walks.walk('org_a', question, async () => {
      begun.push(question);
      await new Promise<void>((resolve) => (end = resolve));
      return question;
    });
  const first = walkOf('0');
  await new Promise(setImmediate);
  const waiting = ['1', '2', '3', '4'].map(walkOf);
  t.like(walkOf('5'), { code: 'RATE_LIMIT_EXCEEDED', details: { limit: 4, retryAfterSeconds: 5 } });
  t.is(walkOf('4'), waiting[3]!, 'one that waits already');
  for (const [at, one] of [first, ...waiting].entries()) {
    t.is(begun.length, at + 1);
    end();
    t.is(await one, String(at));
    await new Promise(setImmediate);
  }
  const again = walkOf('0');
  await new Promise(setImmediate);
  end();
  t.is(await again, '0');
});

test('found: the log of one organization holds up no other', async (t) => {
  const { walked, verify, turn, answered } = world();
  const both = ORGANIZATIONS.map(verify);
  await turn();
  t.deepEqual(walked.toSorted(), [...ORGANIZATIONS]);
  await answered(Promise.all(both));
});

test('found: what is changed while a walk is under way is found by the one that was asked for after it', async (t) => {
  const { logs, verify, turn, answered } = world();
  const before = verify('org_a');
  await turn();
  const log = logs.get('org_a')!;
  log[1] = { ...log[1]!, text: log[1]!.text!.replace('login', 'logout') };
  const after = verify('org_a');
  const [first, second] = await answered(Promise.all([before, after]));
  t.like(first, { ok: true });
  t.like(second, { ok: false, problems: [{ seq: 2, problem: 'changed' }] });
});
