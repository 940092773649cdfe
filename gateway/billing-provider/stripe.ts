/**
 * Payments of statements by Stripe, over its REST API: an invoice of our lines, which the customer pays at Stripe's own
 * page. Nothing is charged by us, and Stripe computes no price. Console B18; docs/decisions/0075.
 *
 *   what is there for (statement, round) ──▶ none: a draft, by an idempotency key of the statement
 *   ──▶ its lines, all in one call ──▶ the sum is compared ──▶ finalized: it has a page, and can be paid
 *
 * Stripe forgets idempotency keys after a day or more: each look begins with what is there under the payer's name.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ProviderFault, type Asking, type Collector, type Opened } from '../../model/ports/billing-provider.ts';
import { lineView } from '../http/billing/billing.ts';
import { wordsOf } from '../http/billing/document.ts';
import { z } from 'zod';

/** The version of Stripe's API that the shapes below are of. */
const API_VERSION = '2026-10-28.endive';
const TIMEOUT_MS = 20_000;
const ANSWER_BYTES_MAX = 1_048_576;
/** Stripe's own tolerance for the age of a webhook. */
const WEBHOOK_AGE_SECONDS = 300;
/** Invoices of one payer for a month and what was withdrawn of it: far below. */
const PAGE = 100;
/** Of what is below Stripe asks for nothing: it would add it to the payer's next invoice. */
const LEAST_CENTS = '50';

const invoice = z.object({
  id: z.string().min(1).max(200),
  status: z.enum(['draft', 'open', 'paid', 'uncollectible', 'void']),
  currency: z.literal('usd'),
  total: z.int(),
  /** The total with what the payer has to their credit there, or owes beside. */
  amount_due: z.int(),
  amount_paid: z.int().min(0),
  hosted_invoice_url: z.url({ protocol: /^https?$/ }).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
});
type Invoice = z.infer<typeof invoice>;
const customer = z.object({ id: z.string().min(1).max(200) });
/** A payer may have invoices there that are none of ours: of those nothing is expected. */
const listed = z.looseObject({
  id: z.string().min(1).max(200),
  status: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
});
const list = z.object({ data: z.array(listed), has_more: z.boolean() });
const event = z.object({ data: z.object({ object: z.object({ object: z.string(), id: z.string().optional() }) }) });
const refusal = z.object({ error: z.object({ code: z.string().optional(), type: z.string().optional() }) });

export interface StripeSettings {
  readonly secretKey: string;
  /** Signs what Stripe calls us with; the former one too while it changes. */
  readonly webhookSecrets: readonly string[];
  readonly apiUrl: string;
}

export function createStripe({ secretKey, webhookSecrets, apiUrl }: StripeSettings): Collector {
  const call = createCalls(secretKey, apiUrl);
  const get = async (reference: string) =>
    shaped(invoice, await call('GET', `/v1/invoices/${encodeURIComponent(reference)}`));

  /** What was begun for a statement and round, whatever answer of it was lost. */
  async function begun({
    payer,
    statementId,
    round,
  }: Pick<Asking, 'payer' | 'statementId' | 'round'>): Promise<Invoice | null> {
    for (let after: string | undefined; ;) {
      const { data, has_more: more } = shaped(
        list,
        await call('GET', '/v1/invoices', {
          customer: payer,
          limit: PAGE,
          ...(after === undefined ? {} : { starting_after: after }),
        }),
      );
      const found = data.find(
        ({ metadata, status }) =>
          metadata?.['statement'] === statementId && metadata['round'] === String(round) && status !== 'void',
      );
      if (found !== undefined) return shaped(invoice, found);
      if (!more || data.length === 0) return null;
      after = data.at(-1)!.id;
    }
  }

  return {
    name: 'stripe',
    leastCents: LEAST_CENTS,
    async namePayer(key, { name, email }) {
      const body = { name, email, metadata: { account: key } };
      return shaped(customer, await call('POST', '/v1/customers', body, `payer.${key}`)).id;
    },
    async open(asking) {
      let key = `${asking.statementId}.${asking.round}.${asking.leftCents}`;
      const isWhole = ({ total, amount_due: due }: Invoice) => total === Number(asking.leftCents) && due === total;
      let found = await begun(asking);
      if (found?.status === 'draft' && found.total !== 0 && !isWhole(found)) {
        // Something was paid by another way since it was begun, or the sum was not ours; nobody has seen it.
        await call('DELETE', `/v1/invoices/${found.id}`);
        key = `${key}.${found.id}`;
        found = null;
      }
      found ??= shaped(invoice, await call('POST', '/v1/invoices', draftOf(asking), key));
      if (found.status === 'draft' && !isWhole(found)) {
        const lines = linesOf(asking);
        found = shaped(
          invoice,
          await call('POST', `/v1/invoices/${found.id}/add_lines`, { lines }, `${found.id}.lines`),
        );
        if (!isWhole(found)) throw new ProviderFault('stripe', 0, 'another_sum');
      }
      if (found.status !== 'draft') return openedOf(found);
      return openedOf(
        shaped(
          invoice,
          await call('POST', `/v1/invoices/${found.id}/finalize`, { auto_advance: false }, `${found.id}.open`),
        ),
      );
    },
    async begun(asked) {
      const found = await begun(asked);
      return found === null ? null : openedOf(found);
    },
    state: async (reference) => openedOf(await get(reference)),
    async withdraw(reference) {
      const before = await get(reference);
      if (before.status === 'draft') {
        await call('DELETE', `/v1/invoices/${before.id}`);
        return { ...openedOf(before), isOpen: false };
      }
      try {
        await call('POST', `/v1/invoices/${encodeURIComponent(reference)}/void`, {});
      } catch (error) {
        // Paid or withdrawn meanwhile: what it is now says which.
        if (!(error instanceof ProviderFault) || error.status !== 400) throw error;
      }
      return openedOf(await get(reference));
    },
    webhook(raw, headers, nowMs) {
      const header = headers['stripe-signature'];
      const refused = typeof header === 'string' ? signatureFault(raw, header, webhookSecrets, nowMs) : 'signature';
      if (refused !== null) return { refused };
      const parsed = event.safeParse(jsonOf(raw));
      if (!parsed.success) return { refused: 'body' };
      const { object, id } = parsed.data.data.object;
      return { reference: object === 'invoice' ? (id ?? null) : null };
    },
  };
}

/** Throws: ProviderFault for an answer that is none. */
function shaped<Shape extends z.ZodType>(shape: Shape, answer: unknown): z.infer<Shape> {
  const read = shape.safeParse(answer);
  if (!read.success) throw new ProviderFault('stripe', 0, 'shape', read.error);
  return read.data;
}

const openedOf = ({ id, status, amount_due: due, amount_paid: paid, hosted_invoice_url: page }: Invoice): Opened => ({
  reference: id,
  page: page ?? null,
  cents: String(due),
  paidCents: String(paid),
  isOpen: status === 'draft' || status === 'open' || status === 'uncollectible',
});

const draftOf = ({ payer, dueAtMs, number, statementId, round }: Asking) => ({
  customer: payer,
  currency: 'usd',
  collection_method: 'send_invoice',
  ...(dueAtMs === null ? { days_until_due: 1 } : { due_date: Math.floor(dueAtMs / 1_000) }),
  auto_advance: false,
  pending_invoice_items_behavior: 'exclude',
  description: `Statement ${number}`,
  metadata: { statement: statementId, round: String(round) },
});

/** Our lines, and what was paid by another way as one that takes off. */
function linesOf({ lines, paidCents }: Asking): { amount: string; description: string }[] {
  const ours = lines.map((line) => ({ amount: line.cents, description: wordsOf(lineView(line)) }));
  return paidCents === '0' ? ours : [...ours, { amount: `-${paidCents}`, description: 'Paid by another way' }];
}

/** `t=<seconds>,v1=<hex of HMAC-SHA256 over "<seconds>.<body>">,v1=…`, as Stripe signs. */
function signatureFault(
  raw: Buffer,
  header: string,
  secrets: readonly string[],
  nowMs: number,
): 'signature' | 'stale' | null {
  const parts = header.split(',').map((part) => part.trim().split('=') as [string, string?]);
  const seconds = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^[0-9]{1,12}$/.test(seconds)) return 'signature';
  const given = parts.flatMap(([name, value]) =>
    name === 'v1' && value !== undefined ? [Buffer.from(value, 'hex')] : [],
  );
  const isOurs = secrets.some((secret) => {
    const expected = createHmac('sha256', secret).update(`${seconds}.`).update(raw).digest();
    return given.some((mac) => mac.length === expected.length && timingSafeEqual(mac, expected));
  });
  if (!isOurs) return 'signature';
  return Math.abs(nowMs / 1_000 - Number(seconds)) > WEBHOOK_AGE_SECONDS ? 'stale' : null;
}

function jsonOf(raw: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(raw));
  } catch {
    return undefined;
  }
}

type Value = string | number | boolean | readonly Value[] | { readonly [name: string]: Value };

/** `a[b]=1&lines[0][amount]=2`, as Stripe reads forms. */
function formOf(value: Value, name = ''): [string, string][] {
  if (typeof value !== 'object') return [[name, String(value)]];
  return Object.entries(value).flatMap(([key, inner]) => formOf(inner as Value, name === '' ? key : `${name}[${key}]`));
}

type Call = (method: 'GET' | 'POST' | 'DELETE', path: string, input?: Value, key?: string) => Promise<unknown>;

/** Throws: ProviderFault with Stripe's own code, which holds no secret. */
function createCalls(secretKey: string, apiUrl: string): Call {
  return async (method, path, input = {}, key) => {
    const form = new URLSearchParams(formOf(input)).toString();
    let response: Response, body: unknown;
    try {
      response = await fetch(`${apiUrl}${path}${method === 'GET' && form !== '' ? `?${form}` : ''}`, {
        method,
        headers: {
          authorization: `Bearer ${secretKey}`,
          'stripe-version': API_VERSION,
          ...(method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        ...(method === 'POST' ? { body: form } : {}),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      body = jsonOf(await bounded(response));
    } catch (error) {
      if (error instanceof ProviderFault) throw error;
      throw new ProviderFault('stripe', 0, 'away', error);
    }
    if (response.ok && body !== undefined) return body;
    const said = refusal.safeParse(body);
    const { code, type } = said.success ? said.data.error : {};
    throw new ProviderFault('stripe', response.status, code ?? type ?? 'no_answer');
  };
}

async function bounded(response: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX) throw new ProviderFault('stripe', response.status, 'too_large');
    parts.push(part);
  }
  return Buffer.concat(parts);
}
