/** Pieces that the pages of payments share. */
import type { JSX } from 'preact';
import { NETWORK_NAMES } from '../../protocol/network-names.ts';
import { CHECKOUT_CHAINS, PAYMENT_STATUSES } from '../../protocol/slugs.ts';
import { may } from '../app/ask.ts';
import { hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Amount, Code, Status, Text, Time } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';
import type { Payment } from './payment-words.ts';

export const CHAIN_OPTIONS = CHECKOUT_CHAINS.map((chain) => [chain, NETWORK_NAMES[chain]] as const);
export const PAYMENT_OPTIONS = PAYMENT_STATUSES.map((status) => [status, words(status)] as const);

/** For those who may. */
export function CreateLink({ scope }: Pick<PageProps, 'scope'>): JSX.Element | null {
  if (!may('editor')) return null;
  return (
    <a class="button primary" href={hrefOf(scope, '/payment-links/new')}>
      Create a link
    </a>
  );
}

/** Said where something would be made that nobody can pay. payments P24. */
export function NotActive({ scope }: Pick<PageProps, 'scope'>): JSX.Element | null {
  const { data } = useRead('getPaymentSettings', scope, undefined, { live: true });
  if (data === null || data.active) return null;
  return (
    <p class="notice warn">
      Payments are switched off: no link is made, and payers open nothing. What is open goes on.{' '}
      {may('owner') ? (
        <a href={hrefOf(scope, '/payment-settings')}>Switch them on</a>
      ) : (
        'An owner switches them on, under “Payment settings”.'
      )}
    </p>
  );
}

export function PaymentTable({
  scope,
  rows,
  live,
  ofOneLink = false,
}: Pick<PageProps, 'scope'> & { rows: readonly Payment[]; live: string; ofOneLink?: boolean }): JSX.Element {
  return (
    <Table
      caption="Payments"
      live={live}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          name: 'Paid',
          cell: ({ id, amountPaid, asset }) => (
            <a href={hrefOf(scope, `/payments/${id}`)}>
              <Amount value={amountPaid} symbol={asset} />
            </a>
          ),
        },
        { name: 'Status', cell: ({ status }) => <Status of={status} /> },
        { name: 'Network', cell: ({ chain }) => NETWORK_NAMES[chain] },
        { name: 'Payer', cell: ({ customerEmail, customerName }) => <Text of={customerName ?? customerEmail} /> },
        ...(ofOneLink
          ? []
          : [
              {
                name: 'Link',
                cell: ({ linkId }: Payment) => <Code of={linkId} href={hrefOf(scope, `/payment-links/${linkId}`)} />,
                wideOnly: true as const,
              },
            ]),
        {
          name: 'Invoice',
          cell: ({ invoiceId, invoiceNumber }) =>
            invoiceId === null ? (
              <span class="faint">–</span>
            ) : (
              <a href={hrefOf(scope, `/invoices/${invoiceId}`)}>{invoiceNumber}</a>
            ),
          wideOnly: true,
        },
        { name: 'Opened', cell: ({ createdAt }) => <Time at={createdAt} /> },
      ]}
    />
  );
}
