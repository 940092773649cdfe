/** One deposit or withdrawal: how far it is, what it moved, which versions of it were signed. */
import type { JSX } from 'preact';
import type { ReplyOf } from '../../protocol/routes.ts';
import { hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Amount, Code, Facts, Head, Instant, Panel, Status, Text } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { cut, plain, words } from '../ui/text.ts';
import { kindOf } from './transaction-words.ts';
import type { Transaction } from './transactions.tsx';

export function TransactionDetail({ scope, params }: PageProps): JSX.Element {
  const read = useRead('getTransaction', scope, { params: { id: params['id']! } }, { live: true });
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(scope, '/transactions')}>Transactions</a>
      </p>
      <Shown read={read}>{(transaction) => <Whole transaction={transaction} />}</Shown>
      {read.data !== null && <History scope={scope} id={params['id']!} />}
    </>
  );
}

type Step = readonly [name: string, note: string | null, state: 'done' | 'now' | 'later' | 'bad'];

/** The way of a transaction as far as it has come. */
function stepsOf({ direction, status, confirmations, threshold, failure }: Transaction): readonly Step[] {
  const depth = `${Math.min(confirmations, threshold)} of ${threshold} confirmations`;
  if (direction === 'in') {
    if (status === 'reversed')
      return [
        ['Detected', null, 'done'],
        ['Reversed', 'A reorg took its block out', 'bad'],
      ];
    const isFinal = status === 'confirmed';
    return [
      ['Detected', null, 'done'],
      ['Confirming', depth, isFinal ? 'done' : 'now'],
      ['Confirmed', isFinal ? 'Credit it' : null, isFinal ? 'done' : 'later'],
    ];
  }
  const order = ['built', 'signing', 'broadcast', 'confirming', 'confirmed'];
  const at = order.indexOf(status);
  if (at === -1) {
    const note = failure === null ? null : `${failure.code}: ${plain(failure.reason)}`;
    return [
      ['Built', null, 'done'],
      [words(status), note, status === 'expired' || status === 'replaced' ? 'now' : 'bad'],
    ];
  }
  return order.map((name, place): Step => {
    const isLast = status === 'confirmed';
    return [
      words(name),
      name === 'confirming' && at >= 3 ? depth : null,
      place < at || isLast ? 'done' : place === at ? 'now' : 'later',
    ];
  });
}

const STEPS: Readonly<Record<ReplyOf<'getTimeline'>['steps'][number]['step'], string>> = {
  detected: 'Seen in a block',
  moved: 'A reorg put it into another block',
  reversed: 'A reorg took it out: take the credit back',
  built: 'Nothing is signed yet',
  repriced: 'Built anew with another fee',
  signed: 'Signed by the edge',
  broadcast: 'Submitted to a node',
  dropped: 'A node refused this version for good',
  included: 'In a block of its chain',
  orphaned: 'A reorg took its block out',
  failed: 'Nothing reached the payee',
  expired: 'Nobody signed it in time',
  confirmed: 'Deep enough to be final',
};
const BAD = new Set(['moved', 'reversed', 'dropped', 'orphaned', 'failed']);

/** What happened, oldest first, and what was posted of it. Console C17. */
function History({ scope, id }: Pick<PageProps, 'scope'> & { id: string }): JSX.Element {
  const read = useRead('getTimeline', scope, { params: { id } }, { live: true });
  return (
    <>
      <Panel title="History" note="Oldest first; reorganisations and new prices are steps of their own">
        <Shown read={read} rows={3}>
          {({ steps }) => (
            <ol class="lines history">
              {steps.map(({ step, at, txid, height, reason }, place) => (
                <li key={place}>
                  <Instant at={at} />
                  <Status of={step} tone={BAD.has(step) ? 'bad' : step === 'confirmed' ? 'good' : 'info'} />
                  <span>
                    {STEPS[step]}
                    {height !== null && `, block ${height}`}
                    {reason !== null && `: ${plain(reason)}`}
                  </span>
                  {txid !== null && <Code of={txid} />}
                </li>
              ))}
            </ol>
          )}
        </Shown>
      </Panel>
      <Panel title="Events and their deliveries">
        <Shown read={read} rows={2}>
          {({ events }) =>
            events.length === 0 ? (
              <Empty title="Nothing was posted of it yet" />
            ) : (
              <ul class="lines history">
                {events.map((one) => (
                  <li key={one.id}>
                    <Instant at={one.createdAt} />
                    <a href={hrefOf(scope, `/events/${one.id}`)}>{words(one.event)}</a>
                    {one.deliveries.length === 0 ? (
                      <span class="faint">No endpoint listened</span>
                    ) : (
                      one.deliveries.map(({ id: of, status }) => <Status key={of} of={status} />)
                    )}
                  </li>
                ))}
              </ul>
            )
          }
        </Shown>
      </Panel>
    </>
  );
}

function Whole({ transaction }: { transaction: Transaction }): JSX.Element {
  const { direction, amountFormatted, tokenSymbol, status, explorerUrl, versions, fee, counterparty, address } =
    transaction;
  return (
    <>
      <Head
        title={
          <>
            {`${kindOf(transaction)}${transaction.role === null ? ' of' : ':'}`}{' '}
            <Amount value={amountFormatted} symbol={tokenSymbol} />
          </>
        }
        note={
          <>
            {transaction.chain} · <Status of={status} />
          </>
        }
        actions={
          explorerUrl !== null && (
            <a class="button" href={explorerUrl} target="_blank" rel="noopener noreferrer">
              Open in the explorer
            </a>
          )
        }
      />
      <Panel title="Progress">
        <ol class="timeline">
          {stepsOf(transaction).map(([name, note, state]) => (
            <li key={name} class={state} aria-current={state === 'now' ? 'step' : undefined}>
              <b>{name}</b>
              {note !== null && <span class="faint">{note}</span>}
            </li>
          ))}
        </ol>
      </Panel>
      <div class="columns">
        <Panel title="Movement">
          <Facts
            rows={[
              ['From', <Code of={direction === 'in' ? counterparty : address} whole />],
              ['To', <Code of={direction === 'in' ? address : counterparty} whole />],
              ['Amount', <Amount value={amountFormatted} symbol={tokenSymbol} />],
              ['Smallest unit', <span class="amount">{transaction.amount}</span>],
              ['Token contract', <Code of={transaction.tokenContract} whole />],
              ['Destination tag', <Text of={transaction.chainTag} />],
              ['Operation', <Code of={transaction.operationId} whole />],
              ['Fee', fee === null ? '–' : <span class="amount">{cut(fee, 0)} in the smallest native unit</span>],
            ]}
          />
        </Panel>
        <Panel title="On the chain">
          <Facts
            rows={[
              ['Transaction', <Code of={transaction.txid} whole />],
              ['Output', transaction.outputIndex === null ? '–' : String(transaction.outputIndex)],
              ['Block', transaction.height === null ? 'In no block' : String(transaction.height)],
              ['Block hash', <Code of={transaction.blockHash} />],
              ['Confirmations', `${transaction.confirmations}, final at ${transaction.threshold}`],
              ['Customer', <Text of={transaction.userRef} />],
              ['Created', <Instant at={transaction.createdAt} />],
              ['Changed', <Instant at={transaction.updatedAt} />],
              ['Id', <Code of={transaction.id} whole />],
            ]}
          />
        </Panel>
      </div>
      {versions.length > 0 && (
        <Panel title="Signed versions" note="Oldest first; the last one is the one that is submitted">
          <ul class="lines">
            {versions.map(({ txid, at }) => (
              <li key={txid}>
                <Status
                  of={at === 'block' ? 'confirmed' : at === 'replaced' ? 'replaced' : 'pending'}
                  label={words(at)}
                />
                <Code of={txid} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}
