/** What must hold at the end of a story of several nodes, whatever happened; each finding is a sentence. */
import { keyModel, registerModel, whyNotLinearizable, type Answer, type RegisterInput } from './linearizable.ts';
import { told, type Operation } from './recorder.ts';

/** Subjects of a history: `key …` is an idempotency key, `address …` the status of one address, `pay …` a payment. */
export const KEY = 'key ',
  ADDRESS = 'address ',
  PAYMENT = 'pay ';

/** What an address operation came to. */
export interface Issued {
  readonly id: string;
  readonly address: string;
}
/** What a payment came to. */
export interface Paid {
  readonly txid: string;
}

/** The database and the receiver, as they are when everything has come to rest. */
export interface Books {
  /** Of this story: by `userRef`. */
  readonly addresses: readonly (Issued & { readonly userRef: string; readonly status: string })[];
  readonly deposits: readonly {
    readonly txid: string;
    readonly amount: string;
    readonly status: string;
    readonly credits: readonly string[];
    /** Publications in their order. */
    readonly events: readonly { readonly eventId: string; readonly event: string; readonly attempts: number }[];
  }[];
  /** By event: the bytes that were published. */
  readonly published: ReadonlyMap<string, string>;
  /** At the customer's, in the order of arrival. */
  readonly arrivals: readonly { readonly eventId: string; readonly raw: string }[];
  /** Looks at every epoch and version, one after the other. */
  readonly epochs: readonly ReadonlyMap<string, number>[];
  /** What has not come to rest, as sentences. */
  readonly open: readonly string[];
}

export type Check = (history: readonly Operation[], books: Books) => string[];

const EVENTS_OF_A_DEPOSIT = ['deposit_detected', 'deposit_confirmed'];
const subjects = (history: readonly Operation[], kind: string) =>
  [...Map.groupBy(history, ({ subject }) => subject)].filter(([subject]) => subject.startsWith(kind));
const replyOf = ({ output }: Operation): Issued | null =>
  output !== null && 'reply' in (output as Answer<Issued>) ? (output as { reply: Issued }).reply : null;

/** Each key is a sequence: one body, one answer. Each address's status is one value. */
const linearizable: Check = (history) => {
  const wrong: string[] = [];
  for (const [subject, operations] of subjects(history, KEY))
    if (whyNotLinearizable(operations as Operation<{ body: string }, Answer<Issued>>[], keyModel<Issued>()) !== null)
      wrong.push(`${subject} is no sequence: ${operations.map(told).join(' | ')}`);
  for (const [subject, operations] of subjects(history, ADDRESS))
    if (whyNotLinearizable(operations as Operation<RegisterInput, string>[], registerModel('active')) !== null)
      wrong.push(`${subject} is no sequence: ${operations.map(told).join(' | ')}`);
  return wrong;
};

/** What was acknowledged is there. */
const nothingLost: Check = (history, { addresses, deposits }) => {
  const ids = new Map(addresses.map((row) => [row.id, row])),
    txids = new Set(deposits.map(({ txid }) => txid));
  return history.flatMap((operation) => {
    if (operation.outcome !== 'ok') return [];
    if (operation.subject.startsWith(KEY)) {
      const issued = replyOf(operation);
      const row = issued === null ? undefined : ids.get(issued.id);
      return issued === null || row?.address === issued.address ? [] : [`lost: address ${told(operation)}`];
    }
    if (!operation.subject.startsWith(PAYMENT)) return [];
    return txids.has((operation.output as Paid).txid) ? [] : [`lost: payment ${told(operation)}`];
  });
};

/** One effect for a key, one deposit for a try of a payment, one credit for a deposit, of its amount. */
const nothingTwice: Check = (history, { addresses, deposits }) => {
  const wrong: string[] = [];
  for (const [userRef, rows] of Map.groupBy(addresses, (row) => row.userRef))
    if (rows.length > 1) wrong.push(`twice: ${rows.length} addresses for ${userRef}`);
  const tries = new Map(
    subjects(history, PAYMENT).map(([subject, operations]) => [subject.slice(PAYMENT.length), operations.length]),
  );
  for (const [amount, rows] of Map.groupBy(deposits, (row) => row.amount))
    if (rows.length > (tries.get(amount) ?? 0))
      wrong.push(`twice: ${rows.length} deposits of ${amount} in ${tries.get(amount) ?? 0} tries`);
  for (const { txid, amount, credits } of deposits)
    if (credits.length !== 1 || credits[0] !== amount)
      wrong.push(`credited ${credits.join(' and ') || 'nothing'} for ${txid} of ${amount}`);
  return wrong;
};

/** Each event once and in order, and what arrives is what was published. */
const eventsOnce: Check = (_, { deposits, published, arrivals }) => {
  const wrong: string[] = [];
  const first = new Map<string, number>();
  for (const [at, { eventId, raw }] of arrivals.entries()) {
    if (!first.has(eventId)) first.set(eventId, at);
    const body = published.get(eventId);
    if (body === undefined) wrong.push(`event ${eventId} arrived and was never published`);
    else if (body !== raw) wrong.push(`event ${eventId} arrived with other bytes`);
  }
  for (const { txid, events } of deposits) {
    const names = events.map(({ event }) => event);
    if (names.join() !== EVENTS_OF_A_DEPOSIT.join()) wrong.push(`events of ${txid}: ${names.join() || 'none'}`);
    for (const { event, eventId } of events) if (!first.has(eventId)) wrong.push(`${event} of ${txid} never arrived`);
    const [detected, confirmed] = events;
    // A retry may be overtaken; first attempts are made in order.
    if (events.length === 2 && events.every(({ attempts }) => attempts === 1))
      if (first.get(detected!.eventId)! > first.get(confirmed!.eventId)!) wrong.push(`${txid} arrived confirmed first`);
  }
  return wrong;
};

const epochsRise: Check = (_, { epochs }) => {
  const wrong: string[] = [];
  const highest = new Map<string, number>();
  for (const look of epochs) {
    for (const [name, epoch] of look) {
      const before = highest.get(name) ?? -1;
      if (epoch < before) wrong.push(`${name} fell from ${before} to ${epoch}`);
      highest.set(name, Math.max(before, epoch));
    }
  }
  return wrong;
};

const drained: Check = (_, { open }) => open.map((text) => `open: ${text}`);

export const CHECKS = { linearizable, nothingLost, nothingTwice, eventsOnce, epochsRise, drained };
export type CheckName = keyof typeof CHECKS;

/** Everything that is wrong, as sentences. */
export const problemsOf = (history: readonly Operation[], books: Books): string[] =>
  Object.values(CHECKS).flatMap((check) => check(history, books));
