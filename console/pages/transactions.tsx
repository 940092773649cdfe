/** What came in and what goes out. */
import type { JSX } from 'preact';
import type { ReplyOf } from '../../protocol/routes.ts';
import { DEPOSIT_STATUSES, DIRECTIONS, WITHDRAWAL_STATUSES } from '../../protocol/slugs.ts';
import { hrefOf, place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Amount, Code, Head, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Filter, Pager, Table, TextFilter } from '../ui/table.tsx';
import { words } from '../ui/text.ts';
import { CHAIN_OPTIONS, queryOf } from './addresses.tsx';
import { kindOf } from './transaction-words.ts';

export type Transaction = ReplyOf<'getTransaction'>;
const FILTERS = ['chain', 'direction', 'status', 'userRef', 'tag', 'after'] as const;
const STATUSES = [...new Set<string>([...DEPOSIT_STATUSES, ...WITHDRAWAL_STATUSES])];

export function Transactions({ scope }: PageProps): JSX.Element {
  const read = useRead('listTransactions', scope, { query: queryOf(FILTERS) as never }, { live: true });
  const isFiltered = FILTERS.some((name) => place.value.query[name] !== undefined);
  return (
    <>
      <Head title="Transactions" note="Deposits and withdrawals, newest first." />
      <div class="filters">
        <Filter
          name="direction"
          label="Kind"
          options={DIRECTIONS.map((one) => [one, one === 'in' ? 'Deposits' : 'Withdrawals'])}
        />
        <Filter name="chain" label="Chain" options={CHAIN_OPTIONS} />
        <Filter name="status" label="Status" options={STATUSES.map((one) => [one, words(one)])} />
        <TextFilter name="userRef" label="Customer" />
        <TextFilter name="tag" label="Tag" />
      </div>
      <Panel>
        <Shown read={read} rows={10}>
          {(page) =>
            page.content.length === 0 ? (
              <Empty title={isFiltered ? 'No transaction matches these filters' : 'Nothing has moved yet'}>
                {!isFiltered && 'Deposits to your addresses and your withdrawals appear here.'}
              </Empty>
            ) : (
              <>
                <TransactionTable scope={scope} rows={page.content} live={JSON.stringify(queryOf(FILTERS))} />
                <Pager of={page} what="transactions" />
              </>
            )
          }
        </Shown>
      </Panel>
    </>
  );
}

export function TransactionTable({
  scope,
  rows,
  live,
}: Pick<PageProps, 'scope'> & { rows: readonly Transaction[]; live?: string }): JSX.Element {
  return (
    <Table
      {...(live === undefined ? {} : { live })}
      caption="Transactions"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { name: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { name: 'Kind', cell: kindOf },
        { name: 'Chain', cell: ({ chain }) => chain },
        {
          name: 'Amount',
          align: 'right',
          cell: ({ direction, amountFormatted, tokenSymbol }) => (
            <Amount value={amountFormatted} symbol={tokenSymbol} sign={direction === 'in' ? '+' : '−'} />
          ),
        },
        { name: 'Status', cell: ({ status }) => <Status of={status} /> },
        {
          name: 'Depth',
          align: 'right',
          wideOnly: true,
          cell: ({ confirmations, threshold }) => `${Math.min(confirmations, threshold)} of ${threshold}`,
        },
        { name: 'Customer', cell: ({ userRef }) => <Text of={userRef} /> },
        { name: 'Id', cell: ({ id }) => <Code of={id} href={hrefOf(scope, `/transactions/${id}`)} /> },
      ]}
    />
  );
}
