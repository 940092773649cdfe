/** Invoices: issued with the confirmation of a payment whose payer left an e-mail. payments part 7. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { NETWORK_NAMES } from '../../protocol/network-names.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, may } from '../app/ask.ts';
import { hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Form, useSend } from '../ui/form.tsx';
import { Amount, Code, Facts, Head, Instant, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Pager, Table } from '../ui/table.tsx';
import { plain } from '../ui/text.ts';
import { queryOf } from './addresses.tsx';

type Invoice = ReplyOf<'getInvoice'>;

export function Invoices({ scope }: PageProps): JSX.Element {
  const query = queryOf(['after']);
  const read = useRead('listInvoices', scope, { query: query as never }, { live: true });
  return (
    <>
      <Head
        title="Invoices"
        note="Issued when a payment is confirmed whose payer left an e-mail. Numbers have no gap."
      />
      <Panel>
        <Shown read={read} rows={10}>
          {(page) =>
            page.content.length === 0 ? (
              <Empty
                title="No invoice yet"
                action={
                  may('editor') && (
                    <a class="button primary" href={hrefOf(scope, '/payment-links/new')}>
                      Create a link
                    </a>
                  )
                }
              >
                A link that asks payers for their e-mail makes one with each payment.
              </Empty>
            ) : (
              <>
                <Table
                  caption="Invoices"
                  live={JSON.stringify(query)}
                  rows={page.content}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      name: 'Number',
                      cell: ({ id, number }) => <a href={hrefOf(scope, `/invoices/${id}`)}>{number}</a>,
                    },
                    { name: 'Status', cell: ({ status }) => <Status of={status} /> },
                    {
                      name: 'Payer',
                      cell: ({ customerName, customerEmail }) => <Text of={customerName ?? customerEmail} />,
                    },
                    { name: 'For', cell: ({ title }) => <Text of={title} />, wideOnly: true },
                    {
                      name: 'Paid',
                      align: 'right',
                      cell: ({ amountPaid, asset }) => <Amount value={amountPaid} symbol={asset} />,
                    },
                    { name: 'Network', cell: ({ chain }) => NETWORK_NAMES[chain], wideOnly: true },
                    { name: 'Issued', cell: ({ issuedAt }) => <Time at={issuedAt} /> },
                  ]}
                />
                <Pager of={page} what="invoices" />
              </>
            )
          }
        </Shown>
      </Panel>
    </>
  );
}

export function InvoiceDetail({ scope, params }: PageProps): JSX.Element {
  const read = useRead('getInvoice', scope, { params: { id: params['id']! } }, { live: true });
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(scope, '/invoices')}>Invoices</a>
      </p>
      <Shown read={read}>{(invoice) => <Whole scope={scope} invoice={invoice} />}</Shown>
    </>
  );
}

function Whole({ scope, invoice }: Pick<PageProps, 'scope'> & { invoice: Invoice }): JSX.Element {
  const [isSending, setSending] = useState(false);
  const { status, asset, transfers } = invoice;
  const sum = (value: string) => <Amount value={value} symbol={asset} />;
  return (
    <>
      <Head
        title={invoice.number}
        note={
          <>
            <Status of={status} /> {invoice.title !== null && plain(invoice.title)}
          </>
        }
        actions={
          may('editor') && (
            <button type="button" class="button" onClick={() => setSending(true)}>
              Send it again
            </button>
          )
        }
      />
      {status === 'reversed' && (
        <p class="notice bad">
          A reorganisation of the chain took money of its payment back. Its page says so; confirmed again, it is paid
          again. The number stays.
        </p>
      )}
      <div class="columns">
        <Panel title="Invoice">
          <Facts
            rows={[
              ['Issued', <Instant at={invoice.issuedAt} />],
              ['Asked for', invoice.amount === null ? 'Any amount' : sum(invoice.amount)],
              ['Paid', sum(invoice.amountPaid)],
              ...(invoice.amountOverpaid === '0' ? [] : ([['Too much', sum(invoice.amountOverpaid)]] as const)),
              ...(invoice.amountShort === '0' ? [] : ([['Short, accepted', sum(invoice.amountShort)]] as const)),
              ['Network', NETWORK_NAMES[invoice.chain]],
              ['Token contract', <Code of={invoice.tokenContract} />],
              ['Id', <Code of={invoice.id} whole />],
            ]}
          />
        </Panel>
        <Panel title="Payer">
          <Facts
            rows={[
              ['E-mail', <Text of={invoice.customerEmail} />],
              ['Name', <Text of={invoice.customerName} />],
              ['Payment', <Code of={invoice.paymentId} href={hrefOf(scope, `/payments/${invoice.paymentId}`)} />],
              ['Link', <Code of={invoice.linkId} href={hrefOf(scope, `/payment-links/${invoice.linkId}`)} />],
            ]}
          />
        </Panel>
      </div>
      <Panel title="Transfers" note={transfers.length >= 100 ? 'The first hundred' : undefined}>
        <Table
          caption="Transfers"
          rows={transfers}
          keyOf={({ txid, amount }) => `${txid} ${amount}`}
          columns={[
            { name: 'Amount', cell: ({ amount }) => sum(amount) },
            { name: 'Transaction', cell: ({ txid }) => <Code of={txid} /> },
            { name: 'Seen', cell: ({ seenAt }) => <Instant at={seenAt} /> },
          ]}
        />
      </Panel>
      {isSending && <Resend scope={scope} invoice={invoice} close={() => setSending(false)} />}
    </>
  );
}

/** Another link of the same invoice: nobody has a readable copy of the one before. payments I4, I6. */
function Resend({
  scope,
  invoice,
  close,
}: Pick<PageProps, 'scope'> & { invoice: Invoice; close: () => void }): JSX.Element {
  const [url, setUrl] = useState<string | null>(null);
  const sending = useSend(
    (_values, idempotencyKey) => ask('resendInvoice', scope, { idempotencyKey, params: { id: invoice.id } }),
    (sent) => setUrl(sent.url),
  );
  return (
    <Dialog title={`Send ${invoice.number} again (${scope.environment})`} onClose={close}>
      {url === null ? (
        <>
          <p>
            {plain(invoice.customerEmail)} gets a letter with a new link to its page. The link before stops working.
            Five times an hour.
          </p>
          <Form sending={sending} label="Send" onCancel={close} />
        </>
      ) : (
        <>
          <p role="status">The letter is on its way. All who have this link see the invoice, and can print it:</p>
          <p class="secret">
            <Code of={url} whole />
          </p>
          <div class="form-foot">
            <a class="button primary" href={url} target="_blank" rel="noopener noreferrer">
              Open the invoice
            </a>
            <button type="button" class="button" onClick={close}>
              Done
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}
