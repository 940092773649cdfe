/** One payment: how far it is, what came, and from whom. payments S6, S7, S22. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { NETWORK_NAMES } from '../../protocol/network-names.ts';
import { ask, may } from '../app/ask.ts';
import { hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Form, useSend } from '../ui/form.tsx';
import { Amount, Code, Facts, Head, Instant, Panel, Status, Text } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { shortened } from '../ui/text.ts';
import { stepsOfPayment, type Payment } from './payment-words.ts';

type OfPayment = Pick<PageProps, 'scope'> & { payment: Payment };

export function PaymentDetail({ scope, params }: PageProps): JSX.Element {
  const read = useRead('getPayment', scope, { params: { id: params['id']! } }, { live: true });
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(scope, '/payments')}>Payments</a>
      </p>
      <Shown read={read}>{(payment) => <Whole scope={scope} payment={payment} />}</Shown>
    </>
  );
}

function Whole({ scope, payment }: OfPayment): JSX.Element {
  const { status, asset, notices, metadata } = payment;
  const asks = status === 'awaiting_payment' || status === 'underpaid';
  return (
    <>
      <Head
        title={
          <Amount
            value={payment.amountPaid === '0' ? (payment.amount ?? payment.amountDue) : payment.amountPaid}
            symbol={asset}
          />
        }
        note={
          <>
            {NETWORK_NAMES[payment.chain]} · <Status of={status} />
          </>
        }
        actions={
          <a class="button" href={hrefOf(scope, `/payment-links/${payment.linkId}`)}>
            To its link
          </a>
        }
      />
      <Panel title="Progress">
        <ol class="timeline">
          {stepsOfPayment(payment).map(([name, note, state]) => (
            <li key={name} class={state} aria-current={state === 'now' ? 'step' : undefined}>
              <b>{name}</b>
              {note !== null && <span class="faint">{note}</span>}
            </li>
          ))}
        </ol>
        {scope.environment === 'sandbox' && asks && may('editor') && <PayIt scope={scope} payment={payment} />}
      </Panel>
      {notices.map(({ reason, chain, asset: sent, amount, txid }) => (
        <p key={txid} class="notice warn">
          {reason === 'wrong_asset' ? 'Another asset came' : 'It came on another network'}: {amount} {sent} on{' '}
          {NETWORK_NAMES[chain]}. It is credited as a deposit, and part of no sum. <Code of={txid} />
        </p>
      ))}
      <div class="columns">
        <Money payment={payment} />
        <Whom scope={scope} payment={payment} />
      </div>
      <Transfers payment={payment} />
      {Object.keys(metadata).length > 0 && (
        <Panel title="Metadata of the link">
          <div class="body-text">
            <pre tabIndex={0}>{JSON.stringify(metadata, null, 2)}</pre>
          </div>
        </Panel>
      )}
    </>
  );
}

function Money({ payment }: { payment: Payment }): JSX.Element {
  const { asset } = payment;
  const sum = (value: string) => <Amount value={value} symbol={asset} />;
  const some = (name: string, value: string) => (value === '0' ? [] : [[name, sum(value)] as const]);
  return (
    <Panel title="Money">
      <Facts
        rows={[
          ['Asked for', payment.amount === null ? 'Any amount' : sum(payment.amount)],
          ['Completes it', sum(payment.amountDue)],
          ['Came', sum(payment.amountPaid)],
          ['Confirmed', sum(payment.amountConfirmed)],
          ...some('Missing', payment.amountRemaining),
          ...some('Too much', payment.amountOverpaid),
          ...some('Short, accepted', payment.amountShort),
          ['Token contract', <Code of={payment.tokenContract} />],
        ]}
      />
      {payment.amountOverpaid !== '0' && (
        <p class="hint">Nothing is sent back by itself: a refund is a withdrawal that you make.</p>
      )}
    </Panel>
  );
}

function Whom({ scope, payment }: OfPayment): JSX.Element {
  const { status, invoiceId, invoiceNumber } = payment;
  return (
    <Panel title="Payer and address">
      <Facts
        rows={[
          ['E-mail', <Text of={payment.customerEmail} />],
          ['Name', <Text of={payment.customerName} />],
          ['Invoice', invoiceId === null ? '–' : <a href={hrefOf(scope, `/invoices/${invoiceId}`)}>{invoiceNumber}</a>],
          ['Address', <Code of={payment.address} whole />],
          ['Path', <code>{payment.derivationPath}</code>],
          ...(payment.addressReused
            ? ([['Lent before', 'Another payer was shown this address, and paid nothing']] as const)
            : []),
          ['Opened', <Instant at={payment.createdAt} />],
          [status === 'awaiting_payment' ? 'Held until' : 'Was held until', <Instant at={payment.expiresAt} />],
          ['Changed', <Instant at={payment.updatedAt} />],
          ['Id', <Code of={payment.id} whole />],
        ]}
      />
    </Panel>
  );
}

function Transfers({ payment: { transfers, asset } }: { payment: Payment }): JSX.Element {
  return (
    <Panel title="Transfers" note="Each is a deposit of its own in your ledger">
      {transfers.length === 0 ? (
        <Empty title="Nothing came yet" />
      ) : (
        <Table
          caption="Transfers"
          rows={transfers}
          keyOf={({ txid, amount }) => `${txid} ${amount}`}
          columns={[
            { name: 'Amount', cell: ({ amount }) => <Amount value={amount} symbol={asset} /> },
            { name: 'Status', cell: ({ status }) => <Status of={status} /> },
            {
              name: 'Confirmations',
              align: 'right',
              cell: ({ confirmations, threshold }) => `${Math.min(confirmations, threshold)} of ${threshold}`,
            },
            { name: 'In time', cell: ({ late }) => (late ? 'Late' : 'Yes') },
            { name: 'Transaction', cell: ({ txid }) => <Code of={txid} /> },
            {
              name: 'Explorer',
              cell: ({ explorerUrl, txid }) =>
                explorerUrl === null ? (
                  <span class="faint">–</span>
                ) : (
                  <a
                    href={explorerUrl}
                    target="_blank"
                    rel="noopener noreferrer"
                    aria-label={`Open ${shortened(txid)} in the explorer`}
                  >
                    Open
                  </a>
                ),
            },
          ]}
        />
      )}
    </Panel>
  );
}

/** A sandbox pays by itself: what is missing, confirmed at once. */
function PayIt({ scope, payment }: OfPayment): JSX.Element {
  const [said, setSaid] = useState('');
  const { chain, address, tokenContract, amountRemaining } = payment;
  // The first transfer is what was asked for: a tolerance is for others.
  const amount = payment.amountPaid === '0' ? (payment.amount ?? amountRemaining) : amountRemaining;
  const sending = useSend(
    (_values, idempotencyKey) =>
      ask('simulateDeposit', scope, {
        idempotencyKey,
        body: {
          ...{ chain, address, amount, autoConfirm: true },
          ...(tokenContract === null ? {} : { tokenContract }),
        },
      }),
    () => {
      setSaid('It was paid.');
      readAgain('getPayment');
    },
  );
  return (
    <>
      <Form inline sending={sending} label="Pay it in the sandbox" />
      <p class="said" role="status">
        {said}
      </p>
    </>
  );
}
