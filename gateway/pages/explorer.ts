/**
 * The explorer of simulated ledgers: `/sandbox/explorer/{chain}/{txid}`, where `explorerUrl` of a sandbox transaction
 * leads. No credential: simulated txids are random, and nothing of a sandbox is worth money. Without scripts;
 * everything that is shown is escaped, for it is the word of the simulating caller.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Catalogue } from '../../chains/chain.ts';
import { networkOf } from '../../chains/registry.ts';
import type { Tokens } from '../../chains/tokens.ts';
import { formatAmount } from '../../protocol/money.ts';
import { CHAINS, type Chain } from '../../protocol/slugs.ts';
import type { SandboxControl } from '../../model/ports/sandbox-control.ts';
import type { PooledTransaction } from '../../model/ports/sandbox-store.ts';
import { EXPLORER_STYLE } from './explorer-style.ts';

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-robots-tag': 'noindex',
} as const;
/** What a simulated txid is made of, on whatever chain. */
const TXID = /^[A-Za-z0-9]{1,128}$/;
const STYLE_PATH = '/sandbox/explorer.css';

type Sighting = NonNullable<Awaited<ReturnType<SandboxControl['sighting']>>>;

/** Serves the page and its style. */
export function serveExplorer(
  app: FastifyInstance,
  sandbox: Pick<SandboxControl, 'sighting' | 'pooledSighting'>,
  { catalogueOf }: Pick<Tokens, 'catalogueOf'>,
): void {
  const send = (reply: FastifyReply, status: number, page: string) =>
    reply.code(status).headers(HEADERS).type('text/html; charset=utf-8').send(page);
  app.get<{ Params: { chain: string; txid: string } }>(
    '/sandbox/explorer/:chain/:txid',
    async ({ params: { chain, txid } }, reply) => {
      if (!isChain(chain)) return send(reply, 404, missingPage(null));
      if (!TXID.test(txid)) return send(reply, 404, missingPage(chain));
      const seen = await sandbox.sighting(chain, txid);
      if (seen !== null) return send(reply, 200, transactionPage(chain, seen, catalogueOf(chain)));
      const pooled = await sandbox.pooledSighting(chain, txid);
      return pooled === null
        ? send(reply, 404, missingPage(chain))
        : send(reply, 200, pooledPage(chain, pooled, catalogueOf(chain)));
    },
  );
  app.get(STYLE_PATH, async (_request, reply) =>
    reply.header('x-content-type-options', 'nosniff').type('text/css; charset=utf-8').send(EXPLORER_STYLE),
  );
}

const isChain = (text: string): text is Chain => (CHAINS as readonly string[]).includes(text);

const escaped = (text: unknown): string => String(text).replace(/[&<>"'`]/g, (mark) => `&#${mark.charCodeAt(0)};`);
const code = (text: unknown): string => `<code>${escaped(text)}</code>`;

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title><link rel="stylesheet" href="${STYLE_PATH}"></head><body>
<header><b>Flock</b> sandbox explorer</header><p class="notice">A simulated ledger: this is on no chain, and nothing here is worth money.</p>
<main>${body}</main></body></html>`;
}

function missingPage(chain: Chain | null): string {
  const where =
    chain === null ? 'There is no such chain.' : `No simulated <b>${escaped(chain)}</b> ledger holds this transaction.`;
  return page(
    'Not found · sandbox explorer',
    `<h1>Not found</h1><p>${where} It may not be broadcast yet, another version of it may
be in a block, a simulated reorg may have taken its block out, or the sandbox was reset.</p>`,
  );
}

/** The page of a transaction: what became of it, its block, and what it moved. */
export function transactionPage(
  chain: Chain,
  { height, hash, timeMs, headHeight, threshold, transaction }: Sighting,
  catalogue: Catalogue,
): string {
  const { success, reason } = transaction;
  const confirmations = headHeight - height + 1,
    isConfirmed = confirmations >= threshold;
  const [kind, word] = !success
    ? (['failed', 'Failed'] as const)
    : isConfirmed
      ? (['confirmed', 'Confirmed'] as const)
      : (['pending', 'Waiting for confirmations'] as const);
  return bodyOf(
    chain,
    transaction,
    [
      ['Status', `<span class="status ${kind}">${word}</span>${reason === null ? '' : ` ${escaped(reason)}`}`],
      [
        'Confirmations',
        `<progress max="${threshold}" value="${Math.min(confirmations, threshold)}"></progress> <b>${confirmations}</b> of ${threshold}`,
      ],
      ['Block', `<b>${height}</b> ${code(hash)}`],
      ['Time', `<time>${new Date(timeMs).toISOString()}</time>`],
    ],
    success ? '' : '<p>It failed: none of these moved, and its fee was paid.</p>',
    catalogue,
  );
}

/** The page of a transaction that waits in the pool, or that another version took the place of there. */
export function pooledPage(
  chain: Chain,
  { transaction, sinceMs, replacedBy }: PooledTransaction,
  catalogue: Catalogue,
): string {
  const [kind, word, rest] =
    replacedBy === null
      ? (['pending', 'Pending', 'in the pool, in no block yet'] as const)
      : ([
          'failed',
          'Replaced',
          `<a href="/sandbox/explorer/${chain}/${encodeURIComponent(replacedBy)}">${code(replacedBy)}</a> took its place in the pool`,
        ] as const);
  return bodyOf(
    chain,
    transaction,
    [
      ['Status', `<span class="status ${kind}">${word}</span> ${rest}`],
      ['Since', `<time>${new Date(sinceMs).toISOString()}</time>`],
    ],
    '',
    catalogue,
  );
}

function bodyOf(
  chain: Chain,
  transaction: PooledTransaction['transaction'],
  said: [string, string][],
  note: string,
  catalogue: Catalogue,
): string {
  const { txid, fee, from, nonce, transfers } = transaction;
  const { nativeSymbol, nativeDecimals } = networkOf(chain);
  const facts: [string, string][] = [
    ['Transaction', code(txid)],
    ...said,
    ['Sender', from === null ? 'a payer outside of the sandbox' : code(from)],
    ...(nonce === null ? [] : [['Nonce', String(nonce)] as [string, string]]),
    ['Fee', `${escaped(formatAmount(BigInt(fee), nativeDecimals))} ${escaped(nativeSymbol)}`],
  ];
  const moved = transfers.map(
    ({ outputIndex, to, amount, tokenContract }) =>
      `<tr><td>${outputIndex}</td><td>${code(to)}</td><td class="amount">${amountOf(chain, amount, tokenContract, catalogue)}</td></tr>`,
  );
  return page(
    `${txid.slice(0, 12)}… · ${chain} · sandbox explorer`,
    `<h1><span class="chain">${escaped(chain)}</span> Transaction</h1>
<dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join('')}</dl>
<h2>Transfers</h2>${
      moved.length === 0
        ? '<p>It moved nothing.</p>'
        : `<table><thead><tr><th>Output</th><th>To</th><th class="amount">Amount</th></tr></thead><tbody>${moved.join('')}</tbody></table>`
    }
${note}`,
  );
}

function amountOf(chain: Chain, amount: string, tokenContract: string | null, catalogue: Catalogue): string {
  const { nativeSymbol, nativeDecimals } = networkOf(chain);
  if (tokenContract === null)
    return `${escaped(formatAmount(BigInt(amount), nativeDecimals))} ${escaped(nativeSymbol)}`;
  const token = catalogue.get(tokenContract);
  return token === undefined
    ? `${escaped(amount)} units of ${code(tokenContract)}`
    : `${escaped(formatAmount(BigInt(amount), token.decimals))} ${escaped(token.symbol)}`;
}
