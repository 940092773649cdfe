/**
 * What speaks Stripe's REST API for payments of statements: customers, invoices and their lines, idempotency keys, and
 * webhooks with Stripe's signature. It refuses what Stripe refuses (an unknown field, a key that is used for something
 * else, a void of what is paid), computes the totals itself, and can lose an answer after it did what was asked.
 * Compared by hand with the client that Stripe ships (docs/decisions/0075-payments-of-statements.md).
 */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const STRIPE_KEY = 'sk_test_0123456789abcdef';
export const STRIPE_WEBHOOK_SECRET = 'whsec_0123456789abcdef';

type Form = { [name: string]: string | Form };

export interface StandInInvoice {
  id: string;
  object: 'invoice';
  status: 'draft' | 'open' | 'paid' | 'uncollectible' | 'void';
  customer: string;
  currency: string;
  total: number;
  amount_due: number;
  amount_paid: number;
  amount_remaining: number;
  auto_advance: boolean;
  collection_method: string;
  due_date: number | null;
  description: string | null;
  hosted_invoice_url: string | null;
  metadata: Record<string, string>;
  lines: { amount: number; description: string }[];
}

class Refused extends Error {
  readonly status: number;
  readonly error: { type: string; code?: string; message: string };
  constructor(status: number, message: string, code?: string, type = 'invalid_request_error') {
    super(message);
    this.status = status;
    this.error = { type, message, ...(code === undefined ? {} : { code }) };
  }
}

/** `a[b][0][c]=d` as nested values. Throws for a name that is none. */
function nested(text: string): Form {
  const root: Form = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (!/^[a-z_]+(\[[a-z_0-9]+\])*$/.test(name)) throw new Refused(400, `Received unknown parameter: ${name}`);
    const parts = name.split(/[[\]]+/).filter((part) => part !== '');
    let at = root;
    for (const part of parts.slice(0, -1)) at = (at[part] ??= {}) as Form;
    at[parts.at(-1)!] = value;
  }
  return root;
}

const CREATE = [
  'auto_advance',
  'collection_method',
  'currency',
  'customer',
  'days_until_due',
  'description',
  'due_date',
  'metadata',
  'pending_invoice_items_behavior',
];

export class StripeStandIn {
  readonly invoices = new Map<string, StandInInvoice>();
  readonly customers = new Map<string, { id: string; object: 'customer'; name: string; email: string }>();
  /** `POST /v1/invoices` and the like, in order. */
  readonly calls: string[] = [];
  /** Does something else to the next call whose line it matches, once: loses its answer, or fails before it acts. */
  fault: { readonly call: RegExp; readonly how: 'lost' | 'before' } | null = null;
  /** A price of its own, as with automatic tax. */
  tax = 0;
  /** What each customer owes beside (or, below nothing, has to their credit): Stripe counts it into what is due. */
  balance = 0;
  /** Whether no fault waits for its call. */
  get isWell(): boolean {
    return this.fault === null;
  }
  #keys = new Map<string, { call: string; text: string; status: number; body: unknown }>();
  #server = createServer((request, response) => void this.#answer(request, response));
  #serial = 0;

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
  /** Stripe keeps idempotency keys for a day or more, and then no longer. */
  forgetKeys(): void {
    this.#keys.clear();
  }
  /** A person pays at the page. */
  pay(id: string, cents?: number): void {
    const invoice = this.#invoice(id);
    if (invoice.status !== 'open') throw new Error(`${id} is ${invoice.status}: nobody can pay it`);
    invoice.amount_paid += cents ?? invoice.amount_remaining;
    this.#sum(invoice);
    if (invoice.amount_remaining === 0) invoice.status = 'paid';
  }
  payable(): StandInInvoice[] {
    return [...this.invoices.values()].filter(({ status }) => status === 'open');
  }
  /** What the operator made there by hand for a customer. */
  byHand(customer: string, currency: string): void {
    const id = `in_${(this.#serial += 1)}`;
    const form = { customer, currency, collection_method: 'send_invoice', days_until_due: '1' };
    this.invoices.set(id, { ...this.#create(form), id, status: 'open', total: 100, metadata: {} });
  }
  /** A call as Stripe makes it. */
  event(
    type: string,
    object: object,
    atMs: number,
    secret = STRIPE_WEBHOOK_SECRET,
  ): { body: string; signature: string } {
    const seconds = Math.floor(atMs / 1_000);
    const body = JSON.stringify({ id: `evt_${(this.#serial += 1)}`, object: 'event', type, data: { object } }, null, 2);
    const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
    return { body, signature: `t=${seconds},v1=${mac},v0=${'0'.repeat(64)}` };
  }

  #invoice(id: string): StandInInvoice {
    const found = this.invoices.get(id);
    if (found === undefined) throw new Refused(404, `No such invoice: '${id}'`, 'resource_missing');
    return found;
  }
  #sum(invoice: StandInInvoice): void {
    invoice.total =
      invoice.lines.reduce((sum, { amount }) => sum + amount, 0) + (invoice.lines.length > 0 ? this.tax : 0);
    const due = invoice.total + (invoice.lines.length > 0 ? this.balance : 0);
    // Below the least charge Stripe asks for nothing, and carries it over to the next invoice.
    invoice.amount_due = due < 50 ? 0 : due;
    invoice.amount_remaining = invoice.amount_due - invoice.amount_paid;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query = ''] = request.url!.split('?');
    const call = `${request.method} ${path}`;
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = request.method === 'GET' ? query : Buffer.concat(parts).toString();
    this.calls.push(call);
    const fault = this.fault !== null && this.fault.call.test(call) ? this.fault.how : null;
    if (fault !== null) this.fault = null;
    if (fault === 'before') return void request.socket.destroy();
    const { status, body } = this.#once(request, call, text);
    if (fault === 'lost') return void request.socket.destroy();
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': `req_${(this.#serial += 1)}` });
    response.end(JSON.stringify(body));
  }

  #once(request: IncomingMessage, call: string, text: string): { status: number; body: unknown } {
    try {
      const { authorization, 'idempotency-key': key, 'stripe-version': version } = request.headers;
      if (authorization !== `Bearer ${STRIPE_KEY}`) throw new Refused(401, 'Invalid API Key provided');
      if (!/^\d{4}-\d{2}-\d{2}\.[a-z]+$/.test(String(version))) throw new Refused(400, 'Invalid Stripe API version');
      if (typeof key !== 'string' || request.method !== 'POST')
        return { status: 200, body: this.#act(call, nested(text)) };
      const known = this.#keys.get(key);
      if (known !== undefined && (known.call !== call || known.text !== text))
        throw new Refused(
          400,
          'Keys for idempotent requests can only be used with the same parameters',
          undefined,
          'idempotency_error',
        );
      if (known !== undefined) return known;
      const done = {
        call,
        text,
        status: 200,
        body: JSON.parse(JSON.stringify(this.#act(call, nested(text)))) as unknown,
      };
      this.#keys.set(key, done);
      return done;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { status: error.status, body: { error: error.error } };
    }
  }

  #act(call: string, form: Form): unknown {
    const [, id = '', action = ''] = /^\w+ \/v1\/invoices\/([^/]+)(?:\/(\w+))?$/.exec(call) ?? [];
    if (call === 'POST /v1/customers') return this.#customer(form);
    if (call === 'POST /v1/invoices') return this.#create(form);
    if (call === 'GET /v1/invoices') return this.#list(form);
    if (id === '') throw new Refused(404, `Unrecognized request URL (${call})`);
    const invoice = this.#invoice(decodeURIComponent(id));
    if (call.startsWith('GET ') && action === '') return invoice;
    if (call.startsWith('DELETE ') && action === '') {
      if (invoice.status !== 'draft')
        throw new Refused(400, 'You can only delete draft invoices', 'invoice_not_editable');
      this.invoices.delete(invoice.id);
      return { id: invoice.id, object: 'invoice', deleted: true };
    }
    if (call.startsWith('POST ') && action === 'add_lines') return this.#addLines(invoice, form);
    if (call.startsWith('POST ') && action === 'finalize') return this.#finalize(invoice);
    if (call.startsWith('POST ') && action === 'void') {
      if (invoice.status !== 'open' && invoice.status !== 'uncollectible')
        throw new Refused(400, `You can only void open invoices; it is ${invoice.status}`, 'invoice_not_editable');
      if (invoice.amount_paid > 0) throw new Refused(400, 'You cannot void an invoice with payments');
      invoice.status = 'void';
      return invoice;
    }
    throw new Refused(404, `Unrecognized request URL (${call})`);
  }

  #customer({ name, email }: Form): unknown {
    const customer = {
      id: `cus_${(this.#serial += 1)}`,
      object: 'customer',
      name: String(name),
      email: String(email),
    } as const;
    this.customers.set(customer.id, customer);
    return customer;
  }

  #create(form: Form): StandInInvoice {
    const unknown = Object.keys(form).find((name) => !CREATE.includes(name));
    if (unknown !== undefined) throw new Refused(400, `Received unknown parameter: ${unknown}`, 'parameter_unknown');
    if (!this.customers.has(String(form['customer']))) throw new Refused(400, 'No such customer', 'resource_missing');
    if (
      form['collection_method'] !== 'send_invoice' ||
      (form['due_date'] === undefined) === (form['days_until_due'] === undefined)
    )
      throw new Refused(400, 'due_date or days_until_due, with collection_method=send_invoice');
    const invoice: StandInInvoice = {
      id: `in_${(this.#serial += 1)}`,
      object: 'invoice',
      status: 'draft',
      customer: String(form['customer']),
      currency: String(form['currency']),
      total: 0,
      amount_due: 0,
      amount_paid: 0,
      amount_remaining: 0,
      auto_advance: form['auto_advance'] === 'true',
      collection_method: 'send_invoice',
      due_date: form['due_date'] === undefined ? null : Number(form['due_date']),
      description: form['description'] === undefined ? null : String(form['description']),
      hosted_invoice_url: null,
      metadata: (form['metadata'] ?? {}) as Record<string, string>,
      lines: [],
    };
    this.invoices.set(invoice.id, invoice);
    return invoice;
  }

  /** Newest first, as Stripe lists. */
  #list({ customer, limit = '10', starting_after: after }: Form): unknown {
    const all = [...this.invoices.values()].reverse().filter((invoice) => invoice.customer === customer);
    const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const data = all.slice(from, from + Number(limit));
    return { object: 'list', data, has_more: from + data.length < all.length, url: '/v1/invoices' };
  }

  #addLines(invoice: StandInInvoice, { lines = {} }: Form): StandInInvoice {
    if (invoice.status !== 'draft')
      throw new Refused(400, 'Finalized invoices can’t be updated', 'invoice_not_editable');
    for (const line of Object.values(lines as Form) as Form[]) {
      const amount = Number(line['amount']);
      if (!Number.isSafeInteger(amount)) throw new Refused(400, 'Invalid integer', 'parameter_invalid_integer');
      invoice.lines.push({ amount, description: String(line['description']) });
    }
    this.#sum(invoice);
    return invoice;
  }

  #finalize(invoice: StandInInvoice): StandInInvoice {
    if (invoice.status !== 'draft') throw new Refused(400, 'This invoice is already finalized', 'invoice_not_editable');
    if (invoice.amount_due === 0) this.balance += invoice.total;
    invoice.status = invoice.amount_due > 0 ? 'open' : 'paid';
    invoice.hosted_invoice_url = `https://invoice.stripe.com/i/acct_1/${invoice.id}`;
    return invoice;
  }
}
