/** Files on their way through an edge: whose places they take, and whom it believes. Migration M-U1, M-U2. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import test, { type ExecutionContext } from 'ava';
import { MIGRATION_RULES } from '../../../edge/answers/migration-rules.ts';
import type { EdgeCall } from '../../../edge/http/exchange.ts';
import { createContentPath, GivenUploads, patienceAfter, type ContentPath } from '../../../edge/http/uploads.ts';
import type { ForwardedAnswer } from '../../../edge/link/upstream.ts';
import { refuse } from '../../../protocol/errors.ts';
import { succeed } from '../../../protocol/envelope.ts';

const META = { requestId: 'req_1', timestamp: '2026-01-01T00:00:00.000Z' };
const FILE = `address\n${'0x1111111111111111111111111111111111111111\n'.repeat(2_000)}`;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

type Cloud = (body: AsyncIterable<Buffer>) => Promise<{ bytes: number; sha256: string }>;
const wholly: Cloud = async (body) => {
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece);
  const all = Buffer.concat(pieces);
  return { bytes: all.length, sha256: sha256(all) };
};

function door(cloud: Cloud, given = new GivenUploads()): { content: ContentPath; given: GivenUploads } {
  const content = createContentPath({
    given,
    log: { alarm: () => undefined },
    upstream: {
      put: async (_path, _headers, body): Promise<ForwardedAnswer> => {
        const data = { uploadId: 'upl_1', format: 'csv', ...(await cloud(body)) };
        return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(succeed(data, META as never))) };
      },
    },
    forwarding: {
      unsynced: () => null,
      read: async (_call, answer) =>
        ({ answer, envelope: { error: null, ...JSON.parse(answer.body.toString()) }, refusal: null }) as never,
      check: async ({ body }, data) => {
        const field = MIGRATION_RULES.completeUpload.falseField(
          data as never,
          {
            body: JSON.parse(body.toString()),
          } as never,
        );
        const refusal = field === null ? null : refuse('INTERNAL_ERROR', { reason: 'false_answer', field });
        return { refusal, data } as never;
      },
    },
  });
  return { content, given };
}

/** A sender, and what it was answered. */
function sends(content: ContentPath, pathAndQuery: string) {
  const raw = Object.assign(new PassThrough(), { headers: {} });
  const answer = content({
    call: { pathAndQuery, requestId: 'req_1', body: Buffer.alloc(0) } as unknown as EdgeCall,
    raw: raw as unknown as IncomingMessage,
  });
  return { raw, answer };
}

async function said(t: ExecutionContext, cloud: Cloud): Promise<unknown> {
  const { raw, answer } = sends(door(cloud).content, '/a');
  raw.end(FILE);
  const got = await answer;
  t.true(got.kind === 'refused' || got.kind === 'passed');
  return got.kind === 'refused' ? got.refusal.details['field'] : 'believed';
}

test('found F12, migration M-U1: a cloud that answers before the end of a file, with what it measured until then, is not believed', async (t) => {
  t.is(await said(t, wholly), 'believed');
  const early: Cloud = async (body) => {
    const { value } = await body[Symbol.asyncIterator]().next();
    return { bytes: (value as Buffer).length, sha256: sha256(value as Buffer) };
  };
  t.is(await said(t, early), 'sha256');
  t.is(await said(t, async () => ({ bytes: 0, sha256: sha256(Buffer.alloc(0)) })), 'sha256');
  t.is(await said(t, async (body) => ({ ...(await wholly(body)), bytes: 1 })), 'bytes');
});

test('migration M-U2: who has no URL of this edge takes no place of those who have one', async (t) => {
  const { content, given } = door(wholly);
  const waiting = Array.from({ length: 20 }, () => sends(content, '/v1/migration/uploads/upl_1/content?signature=x'));
  const refusals = (await Promise.all(waiting.slice(2).map(({ answer }) => answer))).map((answer) =>
    answer.kind === 'refused' ? answer.refusal.details['reason'] : answer.kind,
  );
  t.deepEqual(new Set(refusals), new Set(['files_wait']));
  given.add('/mine');
  const mine = Array.from({ length: 5 }, () => sends(content, '/mine'));
  t.like(await mine[4]!.answer, { kind: 'refused', refusal: { details: { reason: 'files_wait' } } });
  for (const { raw } of [...mine, ...waiting]) raw.end(FILE);
  for (const { answer } of [...mine.slice(0, 4), ...waiting.slice(0, 2)]) t.is((await answer).kind, 'passed');
  const after = sends(content, '/other');
  after.raw.end(FILE);
  t.is((await after.answer).kind, 'passed', 'its place is free again');
});

test('migration M-U2: only so many URLs are remembered', (t) => {
  const given = new GivenUploads();
  for (let n = 0; n <= 1_000; n += 1) given.add(`/${n}`);
  t.deepEqual([given.has('/0'), given.has('/1'), given.has('/1000')], [false, true, true]);
});

test('migration M-U2: a byte now and then is waited for no longer than none, and an honest line as long as it needs', (t) => {
  let left = 30_000,
    waited = 0;
  while (left > 0.5 && waited < 900_000) {
    const forMs = Math.min(left, 5_000);
    waited += forMs;
    left = forMs === left ? 0 : patienceAfter(left, forMs, 1);
  }
  t.true(waited < 31_000, String(waited));
  for (let chunk = 0; chunk < 1_000; chunk += 1) {
    left = patienceAfter(30_000, 5_000, 16_384);
    t.true(left === 30_000);
  }
});
