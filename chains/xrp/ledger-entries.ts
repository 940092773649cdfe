/**
 * What a transaction did to the accounts of the ledger, from its metadata. Balances are read from the entries that it
 * touched, not from what it asked for. Spec: chains.md R4, R7, R10.
 *
 *   CreatedNode   NewFields                    the entry is new: all of its balance is the change
 *   ModifiedNode  FinalFields, PreviousFields  a field that did not change is not among the previous ones
 *   DeletedNode   FinalFields, PreviousFields  likewise
 */
import { integerIn, listIn, malformed, objectIn, textIn, type Answer } from '../node-answer.ts';
import { issuedAmountOf, parseCurrency } from './currency.ts';

export interface TouchedEntry {
  readonly kind: 'CreatedNode' | 'ModifiedNode' | 'DeletedNode';
  readonly type: string;
  /** Fields after the transaction. */
  readonly fields: Answer;
  /** Earlier values of the fields that changed. */
  readonly previous: Answer;
}

/** Entries whose fields are read; the others are carried, whatever they hold (R14). */
const READ_TYPES = new Set(['AccountRoot', 'RippleState', 'Escrow', 'PayChannel', 'Offer']);

const KINDS = ['CreatedNode', 'ModifiedNode', 'DeletedNode'] as const;

/** Entries of the metadata; none where it names none (an old answer). Throws: MalformedReply. */
export function touchedEntries(meta: Answer): readonly TouchedEntry[] {
  return listIn(meta['AffectedNodes'] ?? [], 'AffectedNodes').map((value) => {
    const node = objectIn(value, 'affected node');
    const kind = KINDS.find((name) => node[name] !== undefined) ?? malformed('affected node of an unknown kind', node);
    const entry = objectIn(node[kind], kind);
    const type = textIn(entry['LedgerEntryType'], 'LedgerEntryType');
    if (!READ_TYPES.has(type)) return { kind, type, fields: {}, previous: {} };
    return {
      kind,
      type,
      fields: objectIn(entry[kind === 'CreatedNode' ? 'NewFields' : 'FinalFields'] ?? {}, 'fields'),
      previous: objectIn(entry['PreviousFields'] ?? {}, 'PreviousFields'),
    };
  });
}

export interface AccountChange {
  /** Drops, without the fee given back. */
  readonly drops: bigint;
  readonly created: boolean;
}

/** How an account's XRP changed; null when its root was not touched. Throws: MalformedReply. */
export function accountChange(entries: readonly TouchedEntry[], account: string): AccountChange | null {
  const root = entries.find(({ type, fields }) => type === 'AccountRoot' && fields['Account'] === account);
  if (root === undefined) return null;
  const created = root.kind === 'CreatedNode';
  const after = integerIn(root.fields['Balance'] ?? '0', 'Balance');
  const before = created
    ? 0n
    : root.previous['Balance'] === undefined
      ? after
      : integerIn(root.previous['Balance'], 'Balance');
  return { drops: after - before, created };
}

export interface IssuedChange {
  readonly currency: string;
  readonly issuer: string;
  /** In units of 10^-15, from the account's own side. */
  readonly amount: bigint;
}

/** How an account's issued balances changed, one per trust line. Throws: MalformedReply. */
export function issuedChanges(entries: readonly TouchedEntry[], account: string): readonly IssuedChange[] {
  return entries.flatMap(({ kind, type, fields, previous }) => {
    if (type !== 'RippleState') return [];
    const low = limitIssuer(fields['LowLimit']);
    const high = limitIssuer(fields['HighLimit']);
    if (low !== account && high !== account) return [];
    const after = objectIn(fields['Balance'], 'Balance of a line');
    const before =
      kind === 'CreatedNode'
        ? '0'
        : previous['Balance'] === undefined
          ? after['value']
          : objectIn(previous['Balance'], 'previous balance of a line')['value'];
    const currency = parseCurrency(String(after['currency'])) ?? malformed('currency of a line', after);
    // The balance is the low account's view: what it holds is positive, what it owes negative.
    const change = lineValue(after['value']) - lineValue(before);
    return [{ currency, issuer: low === account ? high : low, amount: low === account ? change : -change }];
  });
}

function limitIssuer(limit: unknown): string {
  return textIn(objectIn(limit, 'limit of a line')['issuer'], 'issuer of a limit');
}

function lineValue(value: unknown): bigint {
  return issuedAmountOf(value) ?? malformed('value of a line', value);
}
